//! The options of `everypath check` that say what the network may do to datagrams.

use crate::usage::Usage;
use clap::{Args, FromArgMatches};
use everypath_native::{Budget, Crossing, Datagrams, Direction, MAX_PORTS, Multiplicities, Rules};

/// What the network may do to datagrams; nothing by default.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DatagramArgs {
    /// How often a datagram may arrive, in the order in which that is tried: 1,0,2 is once, never
    /// (lost) or twice
    #[arg(long, value_name = "LIST")]
    udp_multiply: Option<Multiplicities>,

    /// How many datagrams the network holds at a time; they can arrive in any order [default: 1]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    udp_window: Option<u32>,

    /// Which datagrams: those that the program sends to peers (send), those that it receives
    /// (receive), or both [default: both]
    #[arg(long, value_name = "WHICH")]
    udp_direction: Option<Direction>,

    /// --udp-multiply for datagrams that the program sends to peers
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    udp_send_multiply: Option<Multiplicities>,

    /// --udp-multiply for datagrams that the program receives
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    udp_receive_multiply: Option<Multiplicities>,

    /// --udp-window for datagrams that the program sends to peers
    #[arg(long, value_name = "N", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    udp_send_window: Option<u32>,

    /// --udp-window for datagrams that the program receives
    #[arg(long, value_name = "N", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    udp_receive_window: Option<u32>,

    /// How many faults an execution may have in all, such as loss=2,dup=1,reorder=1 or total=1;
    /// without the options above, these faults and no others
    #[arg(long, value_name = "LIST")]
    udp_budget: Option<Budget>,

    /// For one port, of the program or of a peer, these settings instead, such as
    /// '7000 multiply=1,0 window=2 budget=loss=1'; repeatable
    #[arg(long, value_name = "PORT SETTINGS", value_parser = AtPort::read)]
    udp_at: Vec<AtPort>,
}

/// Settings for one port.
#[derive(Clone, Debug)]
struct AtPort {
    port: u16,
    text: String,
    crossing: Crossing,
}

impl AtPort {
    fn read(text: &str) -> Result<Self, String> {
        const SETTINGS: [&str; 8] = [
            "multiply",
            "window",
            "direction",
            "budget",
            "send-multiply",
            "receive-multiply",
            "send-window",
            "receive-window",
        ];
        let mut words = text.split_whitespace();
        let port = words.next().and_then(|word| word.parse().ok()).filter(|&port| port != 0);
        let port = port.ok_or("begin with the number of a port: '7000 multiply=1,0'")?;
        let settings: Vec<&str> = words.collect();
        if settings.is_empty() {
            return Err(format!("nothing is said of port {port}: add multiply=1,0 or the like"));
        }
        for setting in &settings {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if !SETTINGS.contains(&key) || value.is_empty() {
                let known = SETTINGS.join(", ");
                return Err(format!("'{setting}' is no setting: write KEY=VALUE, KEY of {known}"));
            }
        }
        let options: Vec<String> =
            settings.iter().map(|setting| format!("--udp-{setting}")).collect();
        let args = DatagramArgs::read(&options).map_err(|error| {
            let message = error.to_string();
            message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string()
        })?;
        let crossing = args.crossing().map_err(|error| error.to_string())?;
        Ok(AtPort { port, text: text.into(), crossing })
    }
}

impl DatagramArgs {
    /// What the network may do.
    pub(crate) fn rules(&self) -> Result<Datagrams, Usage> {
        let mut datagrams = Datagrams { everywhere: self.crossing()?, ..Datagrams::default() };
        if self.udp_at.len() > MAX_PORTS {
            return Err(Usage::new(format!("--udp-at can be given up to {MAX_PORTS} times")));
        }
        for (number, AtPort { port, crossing, .. }) in self.udp_at.iter().enumerate() {
            if self.udp_at[..number].iter().any(|other| other.port == *port) {
                return Err(Usage::new(format!("--udp-at is given twice for port {port}")));
            }
            datagrams.at_ports[number] = (*port, *crossing);
        }
        Ok(datagrams)
    }

    /// What it may do wherever nothing is said of the port.
    fn crossing(&self) -> Result<Crossing, Usage> {
        let direction = self.udp_direction.unwrap_or(Direction::Both);
        let budget = self.udp_budget.unwrap_or(Budget::UNLIMITED);
        let (multiply_all, window_all) = self.common(&budget);
        let rules = |is_meant: bool, multiply: Option<Multiplicities>, window: Option<u32>| {
            let (common, width) =
                if is_meant { (multiply_all, window_all) } else { (Multiplicities::ONCE, 1) };
            Rules::new(multiply.unwrap_or(common), window.unwrap_or(width), budget)
                .map_err(|error| Usage::new(format!("the options for datagrams: {error}")))
        };
        let sends = direction != Direction::Receive;
        let receives = direction != Direction::Send;
        Ok(Crossing {
            sent: rules(sends, self.udp_send_multiply, self.udp_send_window)?,
            received: rules(receives, self.udp_receive_multiply, self.udp_receive_window)?,
        })
    }

    /// Multiplicities and window for all. A budget says what may happen, if nothing else does.
    fn common(&self, budget: &Budget) -> (Multiplicities, u32) {
        let limited = |faults: u32| faults != u32::MAX;
        let any_named = [budget.loss, budget.duplication, budget.reordering].map(limited);
        let may = |faults: u32| match limited(faults) {
            true => faults > 0,
            false => limited(budget.total) && any_named == [false; 3],
        };
        let choices: &[u8] = match (may(budget.loss), may(budget.duplication)) {
            (false, false) => &[1],
            (true, false) => &[1, 0],
            (false, true) => &[1, 2],
            (true, true) => &[1, 0, 2],
        };
        let multiply = Multiplicities::new(choices).unwrap_or(Multiplicities::ONCE);
        let window = if may(budget.reordering) { 2 } else { 1 };
        (self.udp_multiply.unwrap_or(multiply), self.udp_window.unwrap_or(window))
    }

    /// The options as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let text = [
            ("multiply", self.udp_multiply.map(|it| it.to_string())),
            ("window", self.udp_window.map(|it| it.to_string())),
            ("direction", self.udp_direction.map(|it| it.to_string())),
            ("send-multiply", self.udp_send_multiply.map(|it| it.to_string())),
            ("receive-multiply", self.udp_receive_multiply.map(|it| it.to_string())),
            ("send-window", self.udp_send_window.map(|it| it.to_string())),
            ("receive-window", self.udp_receive_window.map(|it| it.to_string())),
            ("budget", self.udp_budget.map(|it| it.to_string())),
        ];
        let ports = self.udp_at.iter().map(|it| ("at", Some(it.text.clone())));
        let given = text.into_iter().chain(ports).filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| format!("--udp-{name}={value}")).collect()
    }

    /// The options that a trace was recorded with.
    pub(crate) fn from_words(words: &[String]) -> Result<Self, Usage> {
        DatagramArgs::read(words).map_err(|error| {
            Usage::new(format!("the trace names unknown options for datagrams: {error}"))
        })
    }

    fn read(words: &[String]) -> Result<Self, clap::Error> {
        let command = DatagramArgs::augment_args(clap::Command::new("trace").no_binary_name(true));
        let matches = command.try_get_matches_from(words)?;
        DatagramArgs::from_arg_matches(&matches)
    }

    /// What a verdict rests on, if anything was said.
    pub(crate) fn assumption(&self) -> Option<String> {
        let words = self.words();
        (!words.is_empty())
            .then(|| format!("datagrams fare no worse than {} allows", words.join(" ")))
    }
}
