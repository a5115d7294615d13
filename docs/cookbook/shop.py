# A program with something in each table of `acu sql`: threads, a zombie, files, sockets, CPU time.
import os
import socket
import tempfile
import threading
import time

log = tempfile.TemporaryFile()
log.write(b"x" * 100_000)
log.flush()
listener = socket.create_server(("127.0.0.1", 7070), backlog=16)
client = socket.create_connection(("127.0.0.1", 7070))
server = listener.accept()[0]
client.sendall(b"y" * 500)  # and nobody reads it
waiting = socket.create_connection(("127.0.0.1", 7070))  # and nobody accepts it
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 7071))
if os.fork() == 0:
    os._exit(0)  # and nobody waits for it
for _ in range(3):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
while True:
    os.getppid()
    sum(range(20_000))
