# A server that handles one request at a time, in 100 ms each, and a client that sends requests in a loop.
import socket, sys, threading, time

if sys.argv[1] == "server":
    listener = socket.create_server(("127.0.0.1", 8077), backlog=5)
    while True:
        connection, _ = listener.accept()
        connection.recv(1000)
        time.sleep(0.1)
        connection.sendall(b"done\n")
        connection.close()

while True:
    with socket.create_connection(("127.0.0.1", 8077)) as connection:
        connection.sendall(b"GET\n")
        connection.recv(1000)
