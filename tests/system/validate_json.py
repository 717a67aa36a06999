#!/usr/bin/python3
"""Checks a JSON file of glinpack against its schema: validate_json.py FILE [SCHEMA].

Exit status: 0 if it is valid; 1, with one message per fault, if it is not; 2 if it cannot be checked.
"""
import json
import pathlib
import sys

import jsonschema


def reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def faults_of(file, schema_file):
    """One message per fault of a file against its schema; none: it is valid."""
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    try:
        document = json.loads(pathlib.Path(file).read_text(encoding="utf-8"), parse_constant=reject_constant)
    except (OSError, ValueError) as error:
        return [f"{file}: {error}"]
    # schemas refer to one another by file name
    resolver = jsonschema.RefResolver(schema_file.resolve().as_uri(), schema)
    return [f"{file}: /{'/'.join(map(str, fault.absolute_path))}: {fault.message[:500]}"
            for fault in jsonschema.Draft7Validator(schema, resolver=resolver).iter_errors(document)]


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    default_schema = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result.schema.json"
    faults = faults_of(sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else default_schema)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
