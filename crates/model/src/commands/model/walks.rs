//! Random walks, as they are asked for.

use super::of_kind;
use crate::catalog::Entry;
use crate::cli::{ModelArgs, StrategyName};
use crate::usage::Usage;
use everypath_explore::{AnyModel, PropertyKind, Walk, WalkChoice};

/// How many walks, if nothing is said.
const WALKS: u64 = 10_000;
/// How long a walk is, if nothing is said and the model has no bound.
const DEPTH: u32 = 100;

/// The walks that are asked for, if any.
pub(super) fn plan(entry: &Entry, args: &ModelArgs) -> Result<Option<Walk>, Usage> {
    let weights = weights(entry, args)?;
    if !args.strategy.walks() {
        return match args.weight.first() {
            None => Ok(None),
            Some(weight) => Err(Usage::new(format!(
                "--weight {weight} needs --strategy random; a search takes every step"
            ))),
        };
    }
    if args.graph.asked() || args.replications > 1 {
        return Err(Usage::new(
            "random walks go with neither a graph nor --replications; take more walks with \
             --max-executions",
        ));
    }
    Ok(Some(Walk {
        walks: args.common.max_executions.unwrap_or(WALKS),
        depth: args.common.max_depth.or(entry.kind.default_depth).unwrap_or(DEPTH),
        seed: args.common.seed,
        choice: match args.strategy {
            StrategyName::Pct => WalkChoice::Pct(args.pct_depth),
            _ => WalkChoice::Weighted(weights),
        },
    }))
}

/// The weights of all events.
fn weights(entry: &Entry, args: &ModelArgs) -> Result<Vec<u32>, Usage> {
    let mut weights = vec![1; entry.kind.events.len()];
    for text in &args.weight {
        let wrong =
            || Usage::new(format!("--weight {text}: write an event and a number, as lose=3"));
        let (name, weight) = text.split_once('=').ok_or_else(wrong)?;
        weights[usize::from(entry.event(name)?)] = weight.parse().map_err(|_| wrong())?;
    }
    Ok(weights)
}

/// The properties that a walk can check: not those of infinite executions.
pub(super) fn without_liveness(
    model: &dyn AnyModel,
    properties: Vec<String>,
    args: &ModelArgs,
) -> Result<Vec<String>, Usage> {
    let liveness = of_kind(model, PropertyKind::Liveness);
    match args.property.iter().find(|name| liveness.contains(name)) {
        Some(name) => Err(Usage::new(format!(
            "{name} speaks of infinite executions, of which a walk is none; use another strategy"
        ))),
        None => Ok(properties.into_iter().filter(|name| !liveness.contains(name)).collect()),
    }
}
