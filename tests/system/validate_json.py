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


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    default_schema = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result.schema.json"
    schema_file = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else default_schema
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    try:
        document = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), parse_constant=reject_constant)
    except (OSError, ValueError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    # schemas refer to one another by file name
    resolver = jsonschema.RefResolver(schema_file.resolve().as_uri(), schema)
    faults = list(jsonschema.Draft7Validator(schema, resolver=resolver).iter_errors(document))
    for fault in faults:
        place = "/".join(str(step) for step in fault.absolute_path)
        print(f"{sys.argv[1]}: /{place}: {fault.message[:500]}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
