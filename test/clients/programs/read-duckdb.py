# Prints the records of a dlt pipeline's copy as NDJSON, as the API has them.
import json
import sys
from datetime import datetime, timedelta

import duckdb

_, path, resource = sys.argv
EPOCH = datetime(1970, 1, 1)
db = duckdb.connect(path, read_only=True)
described = db.execute(f"describe brand_records.{resource}").fetchall()
types = {name: kind for name, kind, *_ in described if not name.startswith("_dlt_")}
selected = [f'epoch_ms("{name}")' if kind.startswith("TIMESTAMP") else f'"{name}"' for name, kind in types.items()]


def value(kind, stored):
    if stored is None:
        return None
    if kind.startswith("TIMESTAMP"):
        return (EPOCH + timedelta(milliseconds=stored)).isoformat(timespec="milliseconds") + "Z"
    return json.loads(stored) if kind == "JSON" else stored


for row in db.execute(f"select {', '.join(selected)} from brand_records.{resource}").fetchall():
    print(json.dumps({name: value(kind, stored) for (name, kind), stored in zip(types.items(), row)}))
