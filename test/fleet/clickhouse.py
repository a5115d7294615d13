"""A ClickHouse of one's own: a child process with its folder and ports on loopback. Any version from 18.16 on."""
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{port}</http_port><tcp_port>{tcp_port}</tcp_port><listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>268435456</mark_cache_size><max_concurrent_queries>200</max_concurrent_queries>{more}
</yandex>
"""
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas>
<users><acu><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></acu></users></yandex>
"""
PASSWORD = "only-for-tests"


def command():
    """The words that start a server; None: it is not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = shutil.which("clickhouse-server", path=path)
    if found:
        return [found]
    found = shutil.which("clickhouse", path=path)
    return [found, "server"] if found else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class ClickHouse:
    def __init__(self, folder):
        self.folder, self.port, self.tcp_port, self.child = folder, free_port(), free_port(), None
        os.makedirs(folder)
        self.configure()

    def configure(self, more=""):
        """`more`: elements of the server's configuration, for the next start."""
        for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text.format(folder=self.folder, port=self.port, tcp_port=self.tcp_port, password=PASSWORD, more=more))

    @property
    def url(self):
        return f"clickhouse://acu@127.0.0.1:{self.port}/acu"

    def start(self, seconds=60):
        with open(os.path.join(self.folder, "output"), "a") as output:
            self.child = subprocess.Popen(command() + [f"--config-file={self.folder}/config.xml"], cwd=self.folder, stdout=output, stderr=output)
        until = time.monotonic() + seconds
        while True:
            try:
                if self.query("SELECT 1", "default") == "1\n":
                    return self
            except OSError:
                pass
            if self.child.poll() is not None or time.monotonic() > until:
                raise RuntimeError("ClickHouse does not start: " + open(os.path.join(self.folder, "output")).read()[-2000:])
            time.sleep(0.1)

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def query(self, text, database="acu"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/?" + urllib.parse.urlencode({"database": database}), text.encode(), {"X-ClickHouse-User": "acu", "X-ClickHouse-Key": PASSWORD})
        try:
            return urllib.request.urlopen(request, timeout=120).read().decode()
        except urllib.error.HTTPError as failed:
            raise RuntimeError(failed.read().decode()[:500]) from None

    def rows(self, text):
        return [line.split("\t") for line in self.query(text).splitlines()]

    def number(self, text):
        return int(float(self.query(text).strip() or 0))
