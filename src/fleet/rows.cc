// Rows are in the format RowBinary, with the columns in the order of schema.cc.
#include "fleet/rows.h"

#include "fleet/ids.h"
#include "fleet/schema.h"

namespace fleet {

BatchRows rows_of(std::string_view host, uint64_t spool, uint64_t number, int64_t slot, Content content) {
  BatchRows out;
  out.host = host, out.host_id = host_id(host), out.slot = slot;
  out.batch_id = Id().add(out.host_id).add(spool).add(number).value();
  out.content = std::move(content);
  const Content& c = out.content;
  for (const Content::Service& s : c.services) // that of the host itself is 0
    out.services.push_back(s.name ? Id().add(c.texts[s.name]).add(static_cast<uint64_t>(s.type)).value() : 0);
  for (const Content::Frame& f : c.frames) out.frames.push_back(Id().add(c.texts[f.name]).add(c.texts[f.module]).add(f.kind).add(uint64_t{f.is_named}).value());
  for (const std::vector<uint32_t>& stack : c.stacks) {
    Id id;
    for (uint32_t frame : stack) id.add(out.frames[frame]);
    out.stacks.push_back(id.value());
  }
  for (const Content::Thread& t : c.threads) out.threads.push_back(Id().add(uint64_t{t.pid}).add(c.texts[t.process]).add(c.texts[t.name]).value());
  return out;
}

void add_samples(RowWriter& to, const BatchRows& batch, uint8_t targets) {
  const auto slot = static_cast<uint32_t>(batch.slot);
  auto add = [&](std::string_view kind, uint64_t service, uint64_t thread, uint64_t stack, uint64_t weight, uint64_t count) {
    to.number(targets).text(kind).number(service).number(slot).number(batch.host_id).number(thread).number(stack).number(weight).number(count).end_row();
  };
  add(marker, batch.host_id, 0, batch.batch_id, 0, 1);
  for (const Content::Sample& s : batch.content.samples)
    add(batch.content.texts[s.kind], batch.services[s.service], batch.threads[s.thread], batch.stacks[s.stack], s.weight, s.count);
}

void add_series(RowWriter& to, const BatchRows& batch, uint8_t targets) {
  const auto slot = static_cast<uint32_t>(batch.slot);
  auto add = [&](std::string_view metric, uint64_t service, double value) {
    to.number(targets).text(metric).number(service).number(slot).number(batch.host_id).number(value).end_row();
  };
  const double seconds = static_cast<double>(batch.content.covered_ns) / 1e9;
  add(marker, batch.batch_id, 1);
  const std::string& source = batch.content.texts[batch.content.source];
  add(std::string(covered_metric) + source, 0, seconds);
  for (const Content::Point& p : batch.content.points)
    if (p.value != 0) add(stored_metric(batch.content.texts[p.metric], source), batch.services[p.service], p.value * seconds); // what is not there is 0, where time is covered
}

void Names::add(const BatchRows& batch) {
  const Content& c = batch.content;
  for (size_t i = 0; i < c.services.size(); i++)
    if (batch.services[i] && services_.is_new(batch.services[i]))
      services_.rows.number(batch.services[i]).text(c.texts[c.services[i].name]).number(static_cast<uint8_t>(c.services[i].type)).end_row();
  for (size_t i = 0; i < c.frames.size(); i++)
    if (frames_.is_new(batch.frames[i]))
      frames_.rows.number(batch.frames[i]).text(c.texts[c.frames[i].name]).text(c.texts[c.frames[i].module]).number(c.frames[i].kind).number(uint8_t{c.frames[i].is_named}).end_row();
  for (size_t i = 0; i < c.stacks.size(); i++) {
    if (!stacks_.is_new(batch.stacks[i])) continue;
    stacks_.rows.number(batch.stacks[i]).size(c.stacks[i].size());
    for (uint32_t frame : c.stacks[i]) stacks_.rows.number(batch.frames[frame]);
    stacks_.rows.end_row();
  }
  for (size_t i = 0; i < c.threads.size(); i++)
    if (threads_.is_new(batch.threads[i])) threads_.rows.number(batch.threads[i]).number(c.threads[i].pid).text(c.texts[c.threads[i].process]).text(c.texts[c.threads[i].name]).end_row();
}

base::Status Names::store(const ClickHouse& clickhouse, std::string_view id) {
  constexpr size_t most_remembered = 4'000'000; // of a table; forgotten then, and written once more
  base::Status out;
  for (Table* table : {&frames_, &stacks_, &threads_, &services_}) {
    if (out.ok() && table->rows.rows()) out = clickhouse.insert(table->name, table->rows.bytes(), std::string(id) + "-" + std::string(table->name));
    if (table->stored.size() > most_remembered) table->stored.clear();
    if (out.ok()) table->stored.merge(table->added);
    table->added.clear(), table->rows = {};
  }
  return out;
}

} // namespace fleet
