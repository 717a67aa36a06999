#include "app/page/network_results.hpp"

namespace glinpack::app {

namespace {

SavedNetworkRun read_network_run(const JsonNode& node) {
  SavedNetworkRun run;
  run.parameters = {{"n", node.at("n").shown()},
                    {"nb", node.at("nb").shown()},
                    {"grid", node.at("p").shown() + "x" + node.at("q").shown()},
                    {"broadcast", node.text("broadcast")},
                    {"pivoting", node.text("pivoting")},
                    {"precision", node.text("precision")},
                    {"order", node.text("order")}};
  if (const std::optional<JsonNode> swap = node.find("row_swap")) {
    run.parameters.emplace_back("row swap", swap->text("kind"));
  }
  run.repeat = node.whole("repeat");
  run.seconds = node.number("time");
  run.share = node.number("network_share");
  const JsonNode traffic = node.at("traffic");
  run.bytes = traffic.number("bytes");
  run.messages = traffic.number("messages");
  run.gigabytes_per_second = traffic.optional_number("gigabytes_per_second");
  return run;
}

std::string name_of_link(const JsonNode& node) {
  const JsonNode first = node.at("first"), second = node.at("second");
  return first.at("rank").shown() + "-" + second.at("rank").shown() + " (" + first.text("host") + ", " +
         second.text("host") + ")";
}

PingPongPair read_pair(const JsonNode& node) {
  PingPongPair pair{.name = name_of_link(node), .sizes = {}};
  for (const JsonNode& size : node.at("sizes").items()) {
    pair.sizes.push_back({size.whole("bytes", 1), size.number("least_seconds"), size.number("mean_seconds"),
                          size.number("gigabytes_per_second")});
  }
  return pair;
}

LinkRow read_link(const JsonNode& node, const std::string& name) {
  return {name, node.number("latency_seconds"), node.number("gigabytes_per_second")};
}

void read_screening(const JsonNode& node, NetworkOutcome& outcome) {
  outcome.screened = true;
  outcome.links = node.at("links").items().size();
  for (const auto& [key, name] :
       {std::pair("within_hosts", "within hosts"), std::pair("between_hosts", "between hosts")}) {
    if (const std::optional<JsonNode> usual = node.find(key)) {
      outcome.usual.push_back(read_link(*usual, "median " + std::string(name)));
    }
  }
  for (const JsonNode& link : node.at("slow").items()) outcome.slow.push_back(read_link(link, name_of_link(link)));
}

}  // namespace

NetworkOutcome read_network_results(const JsonNode& root) {
  NetworkOutcome outcome;
  outcome.waits_nap = root.boolean("waits_nap");
  for (const JsonNode& node : root.at("runs").items()) outcome.runs.push_back(read_network_run(node));
  for (const JsonNode& node : root.at("ping_pong").items()) outcome.pairs.push_back(read_pair(node));
  if (const std::optional<JsonNode> screening = root.find("screening")) read_screening(*screening, outcome);
  return outcome;
}

}  // namespace glinpack::app
