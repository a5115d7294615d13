// Options of the commands that serve others.
#pragma once

#include "spec/script_options.h"

namespace spec {

inline constexpr Option audit_option = {
    .id = OptionId::audit, .name = "audit", .argument = "FILE", .doc = "Append a line of JSON for each call to FILE instead of standard error: time, client, verb, arguments, outcome."};
inline constexpr Option verbs_option = {
    .id = OptionId::verbs, .name = "verbs", .argument = "VERBS", .several = true, .doc = "Offer only these verbs: host,sql,why. The others are unknown to clients."};
inline constexpr Option server_cost_option = {
    .id = OptionId::max_cost, .name = "max-cost", .argument = "PERCENT", .doc = "Highest `max_cost` that a call may ask for, in percent of a CPU (default 50)."};
inline constexpr Option server_duration_option = {
    .id = OptionId::duration, .name = "max-duration", .argument = "TIME", .doc = "Longest `duration` that a call may ask for (default 5m)."};
inline constexpr Option list_verbs_option = {.id = OptionId::list, .letter = 'l', .name = "list", .doc = "Print the verbs, their arguments and results as Markdown, and exit."};

inline constexpr Option mcp_options[] = {verbs_option, server_duration_option, server_cost_option, audit_option, list_verbs_option, help_option};
inline constexpr Option api_options[] = {verbs_option, server_duration_option, server_cost_option, audit_option, list_verbs_option, help_option};

inline constexpr Option tls_cert_option = {
    .id = OptionId::tls_cert, .name = "tls-cert", .argument = "FILE", .doc = "Encrypt connections (TLS 1.2 and 1.3) with the certificate in FILE (PEM, followed by those of its issuers). SIGHUP has it read again."};
inline constexpr Option tls_key_option = {
    .id = OptionId::tls_key, .name = "tls-key", .argument = "FILE", .doc = "Private key of the certificate (PEM, without a passphrase). Only its owner may read the file."};

inline constexpr Option serve_options[] = {
    {.id = OptionId::listen, .name = "listen", .argument = "ADDRESS:PORT", .doc = "Address and port to listen on (default 127.0.0.1:7070; port 0: any that is free). Other addresses than those of loopback need --tls-cert."},
    {.id = OptionId::store, .name = "store", .argument = "FILE|URL", .doc = "Where recordings are kept (default: /var/lib/acu/store.db for root, $XDG_STATE_HOME/acu/store.db for others), or the store of a fleet, which is only read: clickhouse://HOST:8123/acu."},
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "Delete what is older: 7d (default), 12h."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "Delete the oldest part of a store that grows beyond SIZE: 1G (default), 300M."},
    {.id = OptionId::read_only, .name = "read-only", .doc = "Refuse to run scripts, tools and measurements; everything else works."},
    {.id = OptionId::token_file, .name = "token-file", .argument = "FILE", .doc = "Also let in programs that send the token in FILE, which is made if it is not there. With --users, they may do what the role `view` may."},
    {.id = OptionId::users, .name = "users", .argument = "FILE", .doc = "Let in the users of FILE, each with a password and a role, by a login page. Only its owner may read the file. SIGHUP has it read again."},
    {.id = OptionId::add_user, .name = "add-user", .argument = "NAME", .doc = "Add a user to the file of --users, or change one, and exit. The password is read from the terminal or standard input."},
    {.id = OptionId::role, .name = "role", .argument = "ROLE", .allowed = "view|measure|admin", .doc = "With --add-user: what the user may do: look at what is stored; also measure; also see the audit and stop what others measure."},
    {.id = OptionId::login_time, .name = "login-time", .argument = "TIME", .doc = "With --users: how long a login lasts (default 12h)."},
    tls_cert_option,
    tls_key_option,
    {.id = OptionId::push, .name = "push", .argument = "FILE", .doc = "Send each minute's stacks and new findings to the servers in FILE, a line each: `otlp URL`, `pyroscope URL`, `parca URL` or `webhook URL`, and header lines below it (docs/serve.md). Only its owner may read the file."},
    server_duration_option,
    server_cost_option,
    {.id = OptionId::audit, .name = "audit", .argument = "FILE", .doc = "Append a line of JSON for each change or measurement to FILE (default: the store's name and .audit)."},
    {.id = OptionId::sample, .name = "sample", .argument = "WHAT", .allowed = "host|cpu|offcpu", .doc = "Only record WHAT into the store, without a server, until a signal or --max-duration."},
    help_option};
inline constexpr Option export_options[] = {
    script_option,
    {.id = OptionId::listen, .name = "listen", .argument = "ADDRESS:PORT", .doc = "Address and port to listen on (default 127.0.0.1:9435; port 0: any that is free). Other addresses than those of loopback need --tls-cert and --token-file."},
    {.id = OptionId::tls_cert, .name = "tls-cert", .argument = "FILE", .doc = "Encrypt connections (TLS 1.2 and 1.3) with the certificate in FILE (PEM, followed by those of its issuers)."},
    tls_key_option,
    {.id = OptionId::token_file, .name = "token-file", .argument = "FILE", .doc = "Answer only requests with the token in FILE (`Authorization: Bearer TOKEN`). Only its owner may read the file."},
    {.id = OptionId::top, .name = "top", .argument = "N", .doc = "Export only the N largest keys of each map (default 10000); the others are counted."},
    run_pid_option,
    run_container_option,
    run_cgroup_option,
    run_max_cost_option,
    quiet_option,
    unsafe_option,
    no_warnings_option,
    include_dir_option,
    include_file_option,
    parameter_option,
    help_option};
inline constexpr Option store_options[] = {
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "With `compact`: delete what is older (default 7d)."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "With `compact`: delete the oldest part beyond SIZE (default 1G)."},
    {.id = OptionId::kind, .name = "kind", .argument = "KIND", .allowed = "cpu|offcpu", .doc = "With `export` and `import`: which stacks (default cpu)."},
    {.id = OptionId::names, .name = "service", .argument = "NAME", .doc = "With `export`: only of this service. With `import`: the service of all threads (default: the names of their processes)."},
    {.id = OptionId::from, .name = "from", .argument = "SECONDS", .doc = "With `export`: from this time on, in seconds since 1970, or 0 and below from now (default -3600)."},
    {.id = OptionId::until, .name = "until", .argument = "SECONDS", .doc = "With `export`: until this time (default 0: now)."},
    {.id = OptionId::output, .letter = 'o', .name = "output", .argument = "FILE", .doc = "With `export`: an .acu, .html, .svg, .folded, .pb.gz, .json, .perf or .otlp file."},
    {.id = OptionId::json, .name = "json", .doc = "With `sizes`: print JSON."},
    help_option};

inline constexpr Option agent_options[] = {
    {.id = OptionId::to, .letter = 't', .name = "to", .argument = "URL", .doc = "Collector that gets the recordings: https://collector:7071, or http://… without encryption."},
    {.id = OptionId::tls_ca, .name = "tls-ca", .argument = "FILE", .doc = "Certificates (PEM) of which one must have issued the collector's (default: those of this system, in /etc/ssl/certs)."},
    {.id = OptionId::token_file, .name = "token-file", .argument = "FILE", .doc = "The token that names this host to the collector. Only its owner may read the file."},
    {.id = OptionId::spool, .name = "spool", .argument = "FOLDER", .doc = "Where recordings wait until they are stored (default: /var/lib/acu/spool for root, $XDG_STATE_HOME/acu/spool for others)."},
    {.id = OptionId::max_size, .name = "max-size", .argument = "SIZE", .doc = "Drop the oldest recordings of a spool that grows beyond SIZE: 256M (default). They are counted."},
    help_option};
inline constexpr Option collect_options[] = {
    {.id = OptionId::store, .name = "store", .argument = "URL", .doc = "ClickHouse and the name of a database, which is made if it is not there: clickhouse://USER@HOST:8123/acu. The password is in CLICKHOUSE_PASSWORD."},
    {.id = OptionId::agents, .name = "agents", .argument = "FILE", .doc = "A line `NAME TOKEN` for each host that may send. It is read again when it changes; only its owner may read it."},
    {.id = OptionId::listen, .name = "listen", .argument = "ADDRESS:PORT", .doc = "Address and port to listen on (default 127.0.0.1:7071; port 0: any that is free)."},
    tls_cert_option,
    tls_key_option,
    {.id = OptionId::keep_fine, .name = "keep-fine", .argument = "TIME", .doc = "Delete slots of 10 s that are older: 7d (default). Those of minutes are kept ten times as long."},
    {.id = OptionId::keep, .name = "keep", .argument = "TIME", .doc = "Delete everything that is older: 400d (default)."},
    help_option};

} // namespace spec
