"""Clients with a tiny receive window that request a list and read it slowly or never.

node:net cannot set SO_RCVBUF or TCP_MAXSEG. Without them, the kernel buffers most of a response.

Usage: slow-readers.py PORT COUNT BYTES_PER_SECOND < REQUEST
The request ends with an empty line. The program prints the number of connections when it has sent all
requests. It exits when standard input ends.
"""
import select
import socket
import sys
import time

port, count, bytes_per_second = (int(argument) for argument in sys.argv[1:4])
request = b""
while not request.endswith(b"\r\n\r\n"):
    request += sys.stdin.buffer.readline()

sockets = []
for _ in range(count):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
    client.settimeout(10)
    try:
        client.connect(("127.0.0.1", port))
        client.sendall(request)
    except OSError:
        client.close()
        continue
    client.setblocking(False)
    sockets.append(client)
print(len(sockets), flush=True)

turn = time.monotonic()
while not select.select([sys.stdin], [], [], max(0, turn - time.monotonic()))[0]:
    turn += 1
    if bytes_per_second == 0:
        continue
    for client in sockets:
        try:
            client.recv(bytes_per_second)
        except OSError:
            pass
