//! The options of `everypath check` that say what the network may do to datagrams.

use crate::usage::Usage;
use clap::{Args, FromArgMatches};
use everypath_native::{Budget, Datagrams, Direction, Multiplicities, Rules};

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
}

impl DatagramArgs {
    /// What the network may do.
    pub(crate) fn rules(&self) -> Result<Datagrams, Usage> {
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
        Ok(Datagrams {
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
        let given = text.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| format!("--udp-{name}={value}")).collect()
    }

    /// The options that a trace was recorded with.
    pub(crate) fn from_words(words: &[String]) -> Result<Self, Usage> {
        let command = DatagramArgs::augment_args(clap::Command::new("trace").no_binary_name(true));
        let read = command.try_get_matches_from(words);
        read.and_then(|matches| DatagramArgs::from_arg_matches(&matches)).map_err(|error| {
            Usage::new(format!("the trace names unknown options for datagrams: {error}"))
        })
    }

    /// What a verdict rests on, if anything was said.
    pub(crate) fn assumption(&self) -> Option<String> {
        let words = self.words();
        (!words.is_empty())
            .then(|| format!("datagrams fare no worse than {} allows", words.join(" ")))
    }
}
