import os

from flask import Flask, jsonify

app = Flask(__name__)


@app.get("/")
def hello():
    print("GET /")
    return jsonify(hello="from Flask", unit=os.environ.get("TANCHO_UNIT"))


@app.get("/health")
def health():
    return "ok\n", 200, {"content-type": "text/plain"}
