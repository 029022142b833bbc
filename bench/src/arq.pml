/* The common model for SPIN; the semantics are those of model.rs and README.md.
 * MESSAGES, RETRANSMISSIONS, LOSSES and CAPACITY are defined on the command line.
 * One process with one control location and one d_step per event: SPIN then stores exactly one
 * state per state of the model. The local variables are scratch and zero between events. */

chan data = [CAPACITY] of { bit, byte };
chan acks = [CAPACITY] of { bit };
byte next, expected, retransmissions, losses;
bool waiting;

active proctype arq()
{
  bit b;
  byte payload;
end:
  do
  :: d_step { /* send */
       !waiting && next < MESSAGES && nfull(data) ->
       data!(next % 2), (next % 4);
       waiting = true
     }
  :: d_step { /* time-out */
       waiting && retransmissions < RETRANSMISSIONS && nfull(data) ->
       data!(next % 2), (next % 4);
       retransmissions++
     }
  :: d_step { /* receive ack */
       nempty(acks) ->
       acks?b;
       if
       :: waiting && b == next % 2 -> next++; waiting = false
       :: else
       fi;
       b = 0
     }
  :: d_step { /* receive data */
       nempty(data) && nfull(acks) ->
       data?b, payload;
       if
       :: b == expected % 2 -> assert(payload == expected % 4); expected++
       :: else
       fi;
       acks!b;
       b = 0; payload = 0
     }
  :: d_step { /* lose data */
       losses < LOSSES && nempty(data) ->
       data?_, _;
       losses++
     }
  :: d_step { /* lose ack */
       losses < LOSSES && nempty(acks) ->
       acks?_;
       losses++
     }
  od
}
