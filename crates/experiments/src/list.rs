//! All experiments.

use crate::experiment::Experiment;
use crate::search_table::SearchTable;
use crate::{aodv, arq, diffusion, incremental, peers, udp};

/// All experiments, in the order in which they are listed.
pub fn all() -> Vec<Box<dyn Experiment>> {
    fn boxed<E: Experiment + 'static>(experiment: E) -> Box<dyn Experiment> {
        Box::new(experiment)
    }
    let searches = searches().into_iter().map(boxed);
    let incremental = incremental::all().into_iter().map(boxed);
    let native = peers::all().map(boxed).into_iter().chain(udp::all().map(boxed));
    searches.chain(incremental).chain(native).collect()
}

/// Tables of searches over models.
fn searches() -> Vec<SearchTable> {
    vec![
        aodv::table_4_1(),
        aodv::table_4_2(),
        aodv::table_4_3(),
        aodv::table_4_5(),
        aodv::table_4_6(),
        diffusion::table_5_1(),
        diffusion::table_5_2(),
        diffusion::table_5_3(),
        arq::table_6_1(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::read;

    #[test]
    fn every_row_of_every_table_has_a_readable_name() {
        let tables = searches();
        let rows = tables.iter().flat_map(|table| &table.parts).flat_map(|part| &part.rows);
        for row in rows {
            assert!(read(row.label).is_some(), "{}", row.label);
        }
    }
}
