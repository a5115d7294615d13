#!/bin/bash
# The main job of `make run`: scripts/survey.sh ACU [SECONDS]. Looks at the whole machine for 5 seconds, prints
# tables and the ten functions that took most, and writes a flame graph to flame.html. Where nothing interesting runs, it starts a small load of its own (a Python program, and nginx with
# a client, on a port of its own) and ends it afterwards. SURVEY_LOAD=none leaves the machine as it is.
set -euo pipefail

acu=${1:?usage: scripts/survey.sh ACU [SECONDS]}
seconds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
tmp=$(mktemp -d)
pids=()

stop_load() {
  if [ -s "$tmp/nginx.pid" ]; then
    local server
    server=$(cat "$tmp/nginx.pid")
    kill "$server" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "$server" 2>/dev/null && sleep 0.05 || break; done
  fi
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$tmp"
}
trap stop_load EXIT

busy() { pgrep -x "$1" >/dev/null 2>&1; }

start_load() {
  [ "${SURVEY_LOAD:-auto}" = none ] && return
  if ! busy python3; then
    echo "survey: no Python program runs here; starting one for the time of the survey" >&2
    python3 "$here/survey_load.py" work &
    pids+=($!)
  fi
  local nginx
  nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null || true)
  if ! busy nginx && [ -n "$nginx" ]; then
    local port=18080
    echo "survey: no nginx runs here; starting one on 127.0.0.1:$port, with a client" >&2
    cat >"$tmp/nginx.conf" <<CONF
worker_processes 1;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path $tmp/a; proxy_temp_path $tmp/b; fastcgi_temp_path $tmp/c; uwsgi_temp_path $tmp/d; scgi_temp_path $tmp/e;
  server { listen 127.0.0.1:$port; location / { return 200 "needle\n"; } }
}
CONF
    if "$nginx" -c "$tmp/nginx.conf" -p "$tmp" 2>/dev/null; then
      python3 "$here/survey_load.py" client "$port" &
      pids+=($!)
    fi
  fi
  sleep 0.3
}

if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then acu="sudo $acu"; fi
start_load
echo "survey: looking at the whole machine for $seconds s" >&2
$acu flame -a --duration "${seconds}s" --top 10 -o "$root/flame.html" >"$tmp/functions" 2>"$tmp/flame" &
flame=$!
$acu run -q -f json "$root/tools/survey.bt" -- --seconds="$seconds" >"$tmp/answer.json"
flame_status=0
wait $flame || flame_status=$?
python3 "$here/survey_print.py" "$tmp/answer.json" "$seconds"
printf '\nFunctions that took most (itself, and with what it calls)\n'
cat "$tmp/functions"
printf '\n'
cat "$tmp/flame"
exit $flame_status
