// Reads a fleet's store for the console: one host, or all of them.
#pragma once

#include "fleet/clickhouse.h"
#include "store/store.h"

#include <memory>

namespace fleet {

// `host`: its name; empty: the whole fleet. Numbers of services are sums over hosts, shares (`busy`, pressure) are means.
std::unique_ptr<store::Store> open_clickhouse(const Address& address, const std::string& host);

} // namespace fleet
