// AODV of ns-3 on a chain of 12 nodes: five flows of four packets a second, 100 simulated seconds.
//
// `aodv_chain wifi` has a radio (802.11b, ad hoc), as ns-3 is mostly used; `aodv_chain links` has
// links that take 10 ms and neither queue nor collide, as our simulation has. Prints events, data
// delivered of data sent, seconds, and events a second.
#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace ns3;

static const uint32_t NODES = 12;
static const double SECONDS = 100;
static const uint32_t FLOWS[][2] = {{0, 11}, {3, 8}, {10, 2}, {5, 1}, {7, 9}};

static uint64_t sent = 0;
static uint64_t delivered = 0;

static void Sent(Ptr<const Packet>) { ++sent; }
static void Delivered(Ptr<const Packet>, const Address &) { ++delivered; }

// Nodes 100 m apart, of which only neighbours hear each other.
static NetDeviceContainer Radio(const NodeContainer &nodes) {
  MobilityHelper mobility;
  mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(100), "GridWidth",
                                UintegerValue(NODES));
  mobility.Install(nodes);
  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(120));
  YansWifiPhyHelper phy;
  phy.SetChannel(channel.Create());
  WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac");
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211b);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate11Mbps"));
  return wifi.Install(phy, mac, nodes);
}

// A channel that all share, and on which only neighbours hear each other.
static NetDeviceContainer Links(const NodeContainer &nodes) {
  Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>();
  channel->SetAttribute("Delay", TimeValue(MilliSeconds(10)));
  SimpleNetDeviceHelper helper;
  NetDeviceContainer devices = helper.Install(nodes, channel);
  for (uint32_t a = 0; a < NODES; ++a) {
    for (uint32_t b = 0; b < NODES; ++b) {
      if (a + 1 < b || b + 1 < a) {
        channel->BlackList(DynamicCast<SimpleNetDevice>(devices.Get(a)),
                           DynamicCast<SimpleNetDevice>(devices.Get(b)));
      }
    }
  }
  return devices;
}

int main(int argc, char **argv) {
  const std::string medium = argc == 2 ? argv[1] : "";
  if (medium != "wifi" && medium != "links") {
    std::fprintf(stderr, "usage: %s wifi|links\n", argv[0]);
    return 2;
  }
  NodeContainer nodes;
  nodes.Create(NODES);
  NetDeviceContainer devices = medium == "wifi" ? Radio(nodes) : Links(nodes);
  AodvHelper aodv;
  InternetStackHelper internet;
  internet.SetRoutingHelper(aodv);
  internet.Install(nodes);
  Ipv4AddressHelper addresses;
  addresses.SetBase("10.0.0.0", "255.255.255.0");
  Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

  uint16_t port = 9;
  for (const auto &flow : FLOWS) {
    const InetSocketAddress to(interfaces.GetAddress(flow[1]), port);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(nodes.Get(flow[1]))
        .Get(0)
        ->TraceConnectWithoutContext("Rx", MakeCallback(&Delivered));
    OnOffHelper source("ns3::UdpSocketFactory", to);
    // 64 bytes each 250 ms.
    source.SetConstantRate(DataRate(64 * 8 * 4), 64);
    source.Install(nodes.Get(flow[0])).Get(0)->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
    ++port;
  }

  Simulator::Stop(Seconds(SECONDS));
  const auto start = std::chrono::steady_clock::now();
  Simulator::Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const uint64_t events = Simulator::GetEventCount();
  std::printf("%s: %lu events, %lu of %lu delivered, %.4f s, %.0f events/s\n", medium.c_str(),
              static_cast<unsigned long>(events), static_cast<unsigned long>(delivered),
              static_cast<unsigned long>(sent), took.count(), events / took.count());
  Simulator::Destroy();
  return 0;
}
