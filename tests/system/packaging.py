#!/usr/bin/python3
"""The recipes of packaging/, as far as they can be tested without Spack, EasyBuild, ReFrame and Apptainer.
packaging/apptainer/try.sh tests one with Apptainer."""
import ast
import contextlib
import re
import runpy
import sys
import types
import unittest
import unittest.mock

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest

PACKAGING = ROOT / "packaging"
# a report of HPL from Debian's hpcc
HPL_REPORT = ROOT / "tests" / "data" / "hpcc_hpl_report.txt"


def cmake_options():
    text = "".join(path.read_text() for path in [*ROOT.glob("CMakeLists.txt"), *ROOT.glob("*/CMakeLists.txt"),
                                               *ROOT.glob("cmake/*.cmake")])
    return set(re.findall(r"^ *(?:option\(|set\()(GLINPACK_\w+)", text, re.MULTILINE))


@contextlib.contextmanager
def reframe_stand_in():
    """Replaces the parts of ReFrame 4 that the checks use: decorators that return the function, and patterns over whole
    files with re.MULTILINE, as in reframe.utility.sanity."""
    def found(pattern, file):
        return list(re.finditer(pattern, file.read_text(), re.MULTILINE))

    def assertion(holds):
        if not holds:
            raise AssertionError("a sanity assertion does not hold")
        return True

    reframe = types.ModuleType("reframe")
    reframe.RunOnlyRegressionTest = object
    reframe.simple_test = lambda check: check
    sanity = types.ModuleType("reframe.utility.sanity")
    sanity.all, sanity.min = all, min
    sanity.assert_found = lambda pattern, file: assertion(found(pattern, file))
    sanity.assert_not_found = lambda pattern, file: assertion(not found(pattern, file))
    sanity.assert_ge = lambda value, bound: assertion(value >= bound)
    sanity.extractall = lambda pattern, file, tag, kind: [kind(match[tag]) for match in found(pattern, file)]
    sanity.extractsingle = lambda pattern, file, tag, kind: kind(found(pattern, file)[0][tag])
    builtins = types.ModuleType("reframe.core.builtins")
    builtins.variable = lambda kind, value: value
    builtins.sanity_function = lambda function: function
    builtins.run_before = builtins.performance_function = lambda _: lambda function: function
    modules = {"reframe": reframe, "reframe.utility": types.ModuleType("reframe.utility"),
               "reframe.utility.sanity": sanity, "reframe.core": types.ModuleType("reframe.core"),
               "reframe.core.builtins": builtins}
    reframe.utility, modules["reframe.utility"].sanity = modules["reframe.utility"], sanity
    with unittest.mock.patch.dict(sys.modules, modules):
        yield


class ReFrame(GlinpackTest):
    def setUp(self):
        super().setUp()
        with reframe_stand_in():
            self.checks = runpy.run_path(PACKAGING / "reframe" / "glinpack_checks.py")

    def check(self, name, report):
        check = self.checks[name]()
        check.stdout = self.folder / "report"
        check.stdout.write_text(report)
        return check

    def test_glinpack_runs_as_the_check_starts_it(self):
        check = self.checks["GlinpackCheck"]()
        check.n, check.nb, check.backend = 64, 16, "openblas"
        check.write_hpl_dat()
        check.name_the_input()
        self.assertEqual(self.start(["bash", "-c", *check.prerun_cmds]).status, 0)
        outcome = self.start([MPIEXEC, "-np", str(check.num_tasks), GLINPACK, *check.executable_opts],
                             {"OPENBLAS_NUM_THREADS": "1"})
        self.assertEqual(outcome.status, 0, outcome)
        self.assertTrue(all((self.folder / name).exists() for name in check.keep_files))
        check = self.check("GlinpackCheck", outcome.out)
        self.assertTrue(check.every_system_passed())
        self.assertGreater(check.gflops(), 0)

    def test_hpl_s_report_is_parsed_the_same_way(self):
        check = self.check("HplCheck", HPL_REPORT.read_text())
        self.assertTrue(check.every_system_passed())
        self.assertGreater(check.gflops(), 0)

    def test_a_failed_system_fails_the_check(self):
        failed = HPL_REPORT.read_text().replace("PASSED", "FAILED")
        with self.assertRaises(AssertionError):
            self.check("HplCheck", failed).every_system_passed()

    def test_grids_have_all_processes(self):
        squarest = self.checks["squarest"]
        self.assertEqual([squarest(n) for n in (1, 2, 4, 6, 7, 16)], [(1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (4, 4)])


@contextlib.contextmanager
def ramble_stand_in(called):
    """Replaces Ramble's directives: each call is appended to `called` by its name."""
    appkit = types.ModuleType("ramble.appkit")
    appkit.ExecutableApplication = object
    for name in ("tags", "software_spec", "required_package", "executable", "workload", "workload_variable",
                 "figure_of_merit", "figure_of_merit_context", "success_criteria"):
        setattr(appkit, name, lambda *values, of=name, **keys: called.append((of, values, keys)))
    expander = types.ModuleType("ramble.expander")
    expander.Expander = types.SimpleNamespace(expansion_str=lambda name: "{" + name + "}")
    modules = {"ramble": types.ModuleType("ramble"), "ramble.appkit": appkit, "ramble.expander": expander}
    with unittest.mock.patch.dict(sys.modules, modules):
        yield


class Ramble(GlinpackTest):
    def setUp(self):
        super().setUp()
        self.called = []
        with ramble_stand_in(self.called):
            runpy.run_path(PACKAGING / "ramble" / "applications" / "glinpack" / "application.py")

    def calls(self, directive):
        return [(values, keys) for name, values, keys in self.called if name == directive]

    def succeeds(self, report):
        """As Ramble: each criterion matches the beginning of a line."""
        return all(any(re.match(keys["match"], line) for line in report.splitlines())
                   for _, keys in self.calls("success_criteria"))

    def test_the_command_runs_and_its_report_has_the_figures_of_merit(self):
        (values, _), = self.calls("executable")
        variables = {values[0]: keys["default"] for values, keys in self.calls("workload_variable")}
        variables.update(n="64", nb="16", backend="openblas", experiment_run_dir=str(self.folder), glinpack_path="")
        variables["options"] = variables["options"].format(**variables)
        program, *arguments = values[1].format(**variables).split()
        self.assertEqual(program, "/bin/glinpack")
        outcome = self.start([GLINPACK, *arguments], {"OPENBLAS_NUM_THREADS": "1"})
        self.assertEqual(outcome.status, 0, outcome)
        self.assertTrue((self.folder / "results.json").exists())
        self.assertTrue(self.succeeds(outcome.out), outcome)
        for _, keys in self.calls("figure_of_merit"):
            found = [re.match(keys["fom_regex"], line + "\n") for line in outcome.out.splitlines()]
            found = [match[keys["group_name"]] for match in found if match]
            self.assertEqual(len(found), 1, outcome)
            self.assertGreaterEqual(float(found[0]), 0)

    def test_a_failed_system_fails_the_experiment(self):
        report = HPL_REPORT.read_text()
        self.assertTrue(self.succeeds(report))
        failed = re.sub(r" 0 tests completed and failed", " 1 tests completed and failed", report)
        self.assertNotEqual(failed, report)
        self.assertFalse(self.succeeds(failed))
        self.assertFalse(self.succeeds(report.replace("PASSED", "FAILED")))


class Build(GlinpackTest):
    def test_all_missing_packages_are_named_at_once_also_of_an_mpi_without_its_headers(self):
        wrapper = self.write("mpicxx.openmpi", "#!/bin/sh\nexit 1\n")
        wrapper.chmod(0o755)
        options = ["-DGLINPACK_MPI=openmpi", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"]
        for found in wrapper, "":
            outcome = self.start(["cmake", "-S", ROOT, "-B", "build", "--fresh", *options, f"-DGLINPACK_MPICXX={found}"],
                                 timeout=120)
            self.assertNotEqual(outcome.status, 0, outcome)
            self.assertIn("Debian openmpi-bin libopenmpi-dev,", outcome.err)
            self.assertIn("Debian libcli11-dev,", outcome.err)
        outcome = self.start(["cmake", "-S", ROOT, "-B", "build", "--fresh", "-DGLINPACK_MPI=another"], timeout=120)
        self.assertIn("GLINPACK_MPI=another: one of mpich, openmpi, system", outcome.err)


class Recipes(unittest.TestCase):
    def assert_cmake_options_exist(self, text):
        options = set(re.findall(r"GLINPACK_[A-Z]+", text))
        self.assertTrue(options)
        self.assertLessEqual(options, cmake_options())

    def version(self):
        return re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1])[1]

    def test_spack_recipe_is_valid(self):
        text = (PACKAGING / "spack" / "package.py").read_text()
        recipe = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
        self.assertEqual((recipe.name, recipe.bases[0].id), ("Glinpack", "CMakePackage"))
        self.assertIn(f'version("{self.version()}")', text)
        self.assert_cmake_options_exist(text)

    def test_easybuild_recipe_is_valid(self):
        file, = (PACKAGING / "easybuild").glob("*.eb")
        text = file.read_text()
        keys = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
        exec(compile(text, file, "exec"), keys)  # as EasyBuild reads the file
        toolchain = keys["toolchain"]
        self.assertEqual(file.name, f"{keys['name']}-{keys['version']}-{toolchain['name']}-{toolchain['version']}.eb")
        self.assertEqual(keys["version"], self.version())
        for key in "easyblock", "homepage", "description", "sources", "dependencies", "sanity_check_paths", "moduleclass":
            self.assertTrue(keys[key], key)
        self.assert_cmake_options_exist(text)

    def test_apptainer_recipe_is_valid(self):
        text = (PACKAGING / "apptainer" / "glinpack.def").read_text()
        self.assertEqual(re.findall(r"^Stage: (\w+)$", text, re.MULTILINE), ["build", "final"])
        stages = ["Bootstrap:" + stage for stage in re.split("^Bootstrap:", text, flags=re.MULTILINE)[1:]]
        for stage in stages:  # each stage must define its variables, unless --build-arg does
            defaults = dict(re.findall(r"^ +(\w+)=(\S+)$", stage.split("%arguments")[1].split("%")[0], re.MULTILINE))
            self.assertEqual(set(re.findall(r"{{ (\w+) }}", stage)), set(defaults))
            self.assertEqual((defaults["bootstrap"], defaults["from"]), ("docker", "debian:bookworm-slim"))
        self.assertEqual(*(stage.split("Stage:")[0] for stage in stages))  # the same Debian for build and run
        for section in "files", "post", "environment", "runscript", "test", "help":
            self.assertRegex(text, f"(?m)^%{section}\\b")
        self.assertTrue((ROOT / "scripts" / "install-deps.sh").exists())
        self.assert_cmake_options_exist(text)


if __name__ == "__main__":
    unittest.main()
