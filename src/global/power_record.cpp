#include "global/power_record.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "global/bytes.hpp"
#include "global/communication.hpp"

namespace glinpack {

namespace {

using nlohmann::json;

std::string dumped(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

// JSON has no NaN.
json number(double value) { return sensors::known(value) ? json(value) : json(); }
double number(const json& value) { return value.is_null() ? sensors::unknown : value.get<double>(); }

json describe(const PowerRecord& record) {
  json read = json::array();
  for (const SensorRecord& sensor : record.read) {
    const sensors::SensorInfo& info = sensor.info;
    read.push_back({{"kind", static_cast<int>(info.kind)},
                    {"id", info.id},
                    {"name", info.name},
                    {"source", info.source},
                    {"most", number(info.most_core_megahertz)},
                    {"limit", number(info.power_limit_watts)},
                    {"samples", sensor.samples.size()}});
  }
  json unread = json::array();
  for (const sensors::Unread& each : record.unread) unread.push_back({static_cast<int>(each.kind), each.why});
  return {{"machine", record.machine}, {"gpu", record.gpu}, {"unread", std::move(unread)}, {"read", std::move(read)}};
}

PowerRecord parse(const std::string& description, const std::vector<sensors::Sample>& samples) {
  const json document = json::parse(description);
  PowerRecord record{.machine = document.at("machine"), .gpu = document.at("gpu"), .unread = {}, .read = {}};
  for (const json& each : document.at("unread")) {
    record.unread.push_back({static_cast<sensors::Kind>(each.at(0).get<int>()), each.at(1)});
  }
  auto first = samples.begin();
  for (const json& sensor : document.at("read")) {
    const auto end = first + sensor.at("samples").get<std::ptrdiff_t>();
    record.read.push_back({.info = {.kind = static_cast<sensors::Kind>(sensor.at("kind").get<int>()),
                                    .id = sensor.at("id"),
                                    .name = sensor.at("name"),
                                    .source = sensor.at("source"),
                                    .most_core_megahertz = number(sensor.at("most")),
                                    .power_limit_watts = number(sensor.at("limit"))},
                           .samples = {first, end}});
    first = end;
  }
  return record;
}

}  // namespace

std::vector<std::vector<std::size_t>> sensor_shares(const std::vector<std::string>& machines,
                                                    const std::vector<std::vector<std::string>>& ids) {
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<std::vector<std::size_t>> shares(machines.size());
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    for (std::size_t place = 0; place < ids[rank].size(); ++place) {
      if (taken.insert({machines[rank], ids[rank][place]}).second) shares[rank].push_back(place);
    }
  }
  return shares;
}

std::vector<sensors::Sensor*> share_of(const ProcessGrid& grid, const RankSensors& mine) {
  std::vector<std::string> my_ids;
  for (const auto& sensor : mine.found) my_ids.push_back(sensor->info().id);
  std::string shares;
  const std::vector<std::string> all = gather_bytes(grid.all(), dumped({mine.machine, my_ids}), 0);
  if (grid.is_root()) {
    std::vector<std::string> machines;
    std::vector<std::vector<std::string>> ids;
    for (const std::string& text : all) {
      const json rank = json::parse(text);
      machines.push_back(rank.at(0));
      ids.push_back(rank.at(1).get<std::vector<std::string>>());
    }
    shares = dumped(sensor_shares(machines, ids));
  }
  broadcast_bytes(grid.all(), shares, 0);
  const int rank = rank_in(grid.all());
  std::vector<sensors::Sensor*> share;
  const json of_ranks = json::parse(shares);
  for (const json& place : of_ranks.at(static_cast<std::size_t>(rank))) {
    share.push_back(mine.found[place.get<std::size_t>()].get());
  }
  return share;
}

PowerRecord power_record(const RankSensors* mine, sensors::Sampler& sampler,
                         sensors::Sampler::Clock::time_point epoch) {
  PowerRecord record;
  if (mine == nullptr) return record;
  record.machine = mine->machine;
  record.gpu = mine->gpu;
  record.unread = mine->unread;
  std::vector<std::vector<sensors::Sample>> samples = sampler.stop(epoch);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    record.read.push_back({sampler.sensors()[i]->info(), std::move(samples[i])});
  }
  return record;
}

std::vector<PowerRecord> gather_power_records(const ProcessGrid& grid, const PowerRecord& mine) {
  std::vector<sensors::Sample> my_samples;
  for (const SensorRecord& sensor : mine.read) {
    my_samples.insert(my_samples.end(), sensor.samples.begin(), sensor.samples.end());
  }
  const auto descriptions = gather_bytes(grid.all(), dumped(describe(mine)), 0);
  const auto samples = gather_bytes(grid.all(), as_bytes(my_samples), 0);
  std::vector<PowerRecord> records;
  for (std::size_t rank = 0; rank < descriptions.size(); ++rank) {
    records.push_back(parse(descriptions[rank], from_bytes<sensors::Sample>(samples[rank])));
  }
  return records;
}

}  // namespace glinpack
