/* Stop and wait over two channels that lose packets, for the comparison in spin.rs, which has the same
 * model: each option of the loop is one step. LOSSES is how many packets may be lost; 255 is any number. */

#define MESSAGES 3
#define CAPACITY 2
#define done (received == MESSAGES)

chan data = [CAPACITY] of { bit };
chan ack = [CAPACITY] of { bit };
byte sent, received, losses;
bit sending, expecting, waiting, packet;

inline lose() {
    packet = 0;
    if
    :: LOSSES < 255 -> losses++
    :: else
    fi
}

active proctype arq() {
    do
    :: d_step { !waiting && sent < MESSAGES && nfull(data) -> data!sending; waiting = 1 }
    :: d_step { waiting && empty(data) && nfull(data) -> data!sending }
    :: d_step { nempty(data) && nfull(ack) ->
        data?packet;
        if
        :: packet == expecting -> received++; expecting = 1 - expecting
        :: else
        fi;
        ack!packet;
        packet = 0 }
    :: d_step { nempty(ack) ->
        ack?packet;
        if
        :: packet == sending && waiting -> sending = 1 - sending; sent++; waiting = 0
        :: else
        fi;
        packet = 0 }
    :: d_step { nempty(data) && losses < LOSSES -> data?packet; lose() }
    :: d_step { nempty(ack) && losses < LOSSES -> ack?packet; lose() }
    od
}
