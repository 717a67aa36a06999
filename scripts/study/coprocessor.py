#!/usr/bin/python3
"""All variants of the standalone modes on one device, and what they gain beside the papers' own figures.

Runs `glinpack-papers matmul`, `banded`, `gauss-jordan`, `plu-packed`, `tridiagonal` and `background` and writes into a folder: of
every run its report, of some JSON; coprocessor.md, the speed-ups beside those of Brodtkorb (2006, 2008); the papers'
figures as PNG, drawn by scripts/plot/ (needs matplotlib).

  scripts/study/coprocessor.py --output-dir results/coprocessor/software [--sizes small|large|quick] [--device INDEX]
                               [--threads COUNT] [--repeat COUNT]

Sizes: small, for software OpenGL, some minutes; large, for a GPU; quick, to see that all works. GLINPACK names the program,
build/release/bin/glinpack otherwise. Exit status: 0, 1 a check failed, 2 unusable input, 3 a run ended with an error.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

PLOTS = pathlib.Path(__file__).resolve().parent.parent / "plot"
# By --sizes. curve: sizes of what is fitted and drawn against n; few: of what all variants are measured on.
SIZES = {
    "quick": {"curve": "8,12,16,20,24,28", "few": "12,17", "counts": "4,8", "equations": "8,16", "background": "8,12",
              "banded": "64"},
    "small": {"curve": "32,64,96,128,160,192,224,256", "few": "64,129,256", "counts": "64,256,1024",
              "equations": "64,128,256,512", "background": "64,128,192,256", "banded": "4096,65536"},
    "large": {"curve": "256,512,768,1024,1280,1536,1792,2048", "few": "256,513,1024", "counts": "256,1024,4096",
              "equations": "256,512,1024,2048", "background": "256,512,1024,2048", "banded": "4096,1048576"},
}
# The report's name: mode and options, {size} of the table above.
RUNS = {
    "matmul-variants": "matmul --variant all --packing all --pass-length 1,16 --n {few}",
    "matmul-double": "matmul --variant compute --precision double --n {few}",
    "matmul-fit": "matmul --variant single-pass,multi-pass,compute --n {curve} --fit",
    "banded": "banded --variant all --diagonals 10 --n {banded}",
    "gauss-jordan-variants": "gauss-jordan --variant all --pivoting all --measure all --rhs 3 --n {few}",
    "gauss-jordan-inverse": "gauss-jordan --variant all --inverse --n {few}",
    "gauss-jordan-fit": "gauss-jordan --variant all --n {curve} --fit",
    "plu-packed-variants": "plu-packed --variant all --measure all --rhs 3 --n {few}",
    "plu-packed-fit": "plu-packed --variant all --rhs 0 --n {curve} --fit",
    "tridiagonal": "tridiagonal --variant all --systems {counts} --n {equations}",
    "tridiagonal-double": "tridiagonal --variant compute,cyclic-reduction --precision double --systems {counts} "
                          "--n {equations}",
    "background": "background --systems 30 --ratio auto --n {background}",
    "background-ratio-2": "background --systems 30 --ratio 2 --n {background}",
    "background-matmul": "background --operation matmul --systems 30 --n {background}",
}
# Runs whose JSON is kept, for coprocessor.md and the pictures.
KEPT = ("matmul-fit", "banded", "gauss-jordan-fit", "plu-packed-fit", "tridiagonal", "background", "background-ratio-2")
# The picture's name: script, options, the runs that it shows.
PICTURES = {
    "2006-figure-5-matmul-per-element": ("mode_times.py", ["--quantity", "element"], "matmul-fit"),
    "figure-2-matmul": ("mode_times.py", [], "matmul-fit"),
    "figure-3a-gauss-jordan": ("mode_times.py", [], "gauss-jordan-fit"),
    "figure-3b-plu": ("mode_times.py", [], "plu-packed-fit"),
    "figure-4-tridiagonal": ("tridiagonal.py", ["--variant", "raster"], "tridiagonal"),
    "figure-4-tridiagonal-compute": ("tridiagonal.py", ["--variant", "compute"], "tridiagonal"),
    "figure-5-background": ("background.py", [], "background-ratio-2"),
    "figure-5-background-auto": ("background.py", [], "background"),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", metavar="DIR", required=True, type=pathlib.Path, help="made if missing")
    parser.add_argument("--sizes", choices=SIZES, default="small", help="see above; small by default")
    parser.add_argument("--device", metavar="INDEX", help="EGL device, as `glinpack devices` counts")
    parser.add_argument("--threads", metavar="COUNT", help="of the processor; its cores by default")
    parser.add_argument("--repeat", metavar="COUNT", help="repetitions of every measurement; 3 by default")
    parser.add_argument("--redraw", action="store_true", help="only coprocessor.md and pictures, of the JSON in DIR")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    options = parser.parse_args()
    names = ["coprocessor.md", *(f"{name}.txt" for name in RUNS), *(f"{name}.json" for name in KEPT)]
    if not options.force and not options.redraw:
        for name in names:
            if (options.output_dir / name).exists():
                parser.error(f"{options.output_dir / name} exists; choose another folder, or give --force")
    return options


def end(status, message):
    print(f"coprocessor.py: {message}", file=sys.stderr)
    sys.exit(status)


def run(name, options):
    """Whether all checks of the run passed."""
    command = shlex.split(RUNS[name].format(**SIZES[options.sizes]))
    for key in "device", "threads", "repeat":
        if getattr(options, key) is not None:
            command += [f"--{key}", getattr(options, key)]
    program = os.environ.get("GLINPACK_PAPERS", "build/release/bin/glinpack-papers")
    print(f"glinpack-papers {shlex.join(command)}", flush=True)
    files = ["--json", options.output_dir / f"{name}.json", "--force"] if name in KEPT else []
    outcome = subprocess.run([program, *command, *files], capture_output=True, text=True, check=False)
    if outcome.returncode not in (0, 1):
        end(outcome.returncode if outcome.returncode == 2 else 3, f"exit status {outcome.returncode} of glinpack-papers "
            f"{shlex.join(command)}\n{outcome.stderr}")
    (options.output_dir / f"{name}.txt").write_text(f"$ glinpack-papers {shlex.join(command)}\n{outcome.stdout}", encoding="utf-8")
    return outcome.returncode == 0


def read(options):
    """{name: document} of the runs whose JSON is kept."""
    documents = {}
    for name in KEPT:
        try:
            documents[name] = json.loads((options.output_dir / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            end(2, f"{options.output_dir / name}.json: {error}")
    return documents


def factor(value):
    return "-" if value is None else f"{value:.3g}"


def fitted(document, variant):
    """The speed-up by dominant coefficients, and that of the largest size."""
    fits = [fit for fit in document["fits"] if fit["series"].split()[0] == variant]
    results = [result for result in document["results"] if result["variant"] == variant and result["passed"]]
    if not results:
        return "failed"
    last = max(results, key=lambda result: result["n"])
    return f"{factor(fits[0]['speedup'] if fits else None)} by the fits, {factor(last['speedup'])} at {last['n']}"


def largest(document, variant, times="compute"):
    """The largest speed-up of a variant, whose time is this one, over the processor's computation, and where."""
    passed = [result for result in document["results"] if result["passed"]]
    host = {result["size"]: result["times"]["compute"]["median"] for result in passed if result["rival"]}
    speedups = {result["size"]: host[result["size"]] / result["times"][times]["median"]
                for result in passed if result["variant"] == variant and result["size"] in host}
    if not speedups:
        return "failed"
    best = max(speedups, key=speedups.get)
    return f"{factor(speedups[best])} at {best}"


def table(documents):
    """Markdown: the papers' speed-ups beside the measured ones."""
    first = documents["matmul-fit"]
    matmul, banded, background = documents["matmul-fit"], documents["banded"], documents["background"]
    rows = [
        ("matrix product, single-pass", "1.96", "31.29", "2008, 5.1", fitted(matmul, "single-pass")),
        ("matrix product, multi-pass", "3.04", "14.25", "2008, 5.1", fitted(matmul, "multi-pass")),
        ("matrix product, compute shaders", "", "", "", fitted(matmul, "compute")),
        ("Gauss-Jordan elimination over PLU by the processor", "1.07", "4.27", "2008, 5.2",
         fitted(documents["gauss-jordan-fit"], "double-rows")),
        ("the same by compute shaders", "", "", "", fitted(documents["gauss-jordan-fit"], "compute")),
        ("PLU factorisation", "1.48", "7.55", "2008, 5.3", fitted(documents["plu-packed-fit"], "double-rows")),
        ("the same by compute shaders", "", "", "", fitted(documents["plu-packed-fit"], "compute")),
        ("tridiagonal systems, transfer included, the largest", "", "125 at 4096 systems of 2048", "2008, 5.4",
         largest(documents["tridiagonal"], "raster", "with_all")),
        ("the same by compute shaders", "", "", "", largest(documents["tridiagonal"], "compute", "with_all")),
        ("30 PLU factorisations in the background, two by the processor to one by the device", "1.68 (GPU not named)", "",
         "2008, 5.5", largest(documents["background-ratio-2"], "both")),
        ("the same, the ratio measured", "", "", "", largest(background, "both")),
        ("banded matrix times vector, ten diagonals", "319 (0.23 s to 0.72 ms; other hardware)", "", "2006, 2.2",
         largest(banded, "diagonals")),
        ("the same by compute shaders", "", "", "", largest(banded, "compute")),
    ]
    device, host = first["device"], first["host"]
    threads = f"{host['threads']} thread{'' if host['threads'] == 1 else 's'}"
    text = (f"Device: {device['renderer']}{' (software: the processor computes)' if device['software'] else ''}. "
            f"Host: {host['processor']}, {threads}.\n\n"
            "Speed-ups over the processor. The papers': MATLAB on a Pentium IV of 3 GHz (banded: Krüger and Westermann's, as\n"
            "retold). Here: OpenBLAS and LAPACK, and compressed rows, on this host.\n\n"
            "| | GeForce 7800 GT | GeForce 8800 GTX | source | here |\n| --- | --- | --- | --- | --- |\n")
    return text + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def draw(name, options):
    script, arguments, source = PICTURES[name]
    outcome = subprocess.run([sys.executable, PLOTS / script, options.output_dir / f"{source}.json", *arguments, "-o",
                              options.output_dir / f"{name}.png", "--force"], capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        end(3, f"exit status {outcome.returncode} of scripts/plot/{script}: {outcome.stderr}")


def main():
    options = parse_arguments()
    passed = True
    if not options.redraw:
        options.output_dir.mkdir(parents=True, exist_ok=True)
        for name in RUNS:
            passed = run(name, options) and passed
    documents = read(options)
    (options.output_dir / "coprocessor.md").write_text(table(documents), encoding="utf-8")
    for name in PICTURES:
        draw(name, options)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
