"""Talks to memcached: each word after the port is a request, and its answer must be as it should."""

import re
import socket
import sys

REQUESTS = {
    "add": (b"add counter 0 0 1\r\n0\r\n", rb"(NOT_)?STORED\r\n"),
    "incr": (b"incr counter 1\r\n", rb"[12]\r\n"),
    "get": (b"get counter\r\n", rb"VALUE counter 0 1\r\n[12]\r\nEND\r\n"),
    "shutdown": (b"shutdown\r\n", rb""),
}

server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for word in sys.argv[2:]:
    request, expected = REQUESTS[word]
    server.sendall(request)
    answer = b""
    while not re.fullmatch(expected, answer):
        part = server.recv(4096)
        if not part:
            sys.exit(f"{word}: {answer}")
        answer += part
