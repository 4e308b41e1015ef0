# The techniques of the search that studies turn off; a file that studies source.
#
#   TECHNIQUES  names, each with the numbers that switch it off: NAME:NUMBER=VALUE[,NUMBER=VALUE...]

default TECHNIQUES "late-move-reductions:lmr_depth=1000 null-move:null_depth=1000
    histories:bonus_slope=0 threats:threats=0 evaluation-gains:gain_slope=0
    continuation-history:follow=0 capture-history:captures=0 killers:killers=0
    counter-moves:counters=0 correction-history:correct_pawns=0,correct_pieces=0
    late-move-pruning:lmp_depth=0 futility:futility_depth=-1 reverse-futility:rfp_depth=0
    exchange-pruning:see_depth=0 history-pruning:history_depth=0 razoring:razor_depth=0 probcut:probcut_depth=1000
    quiescence-futility:quiescence_margin=10000 quiescence-checks:quiescence_checks=0 improving:improving=0
    singular-extensions:singular_depth=1000 internal-reductions:iir_depth=1000
    aspiration:aspiration_delta=32000" "null-move:null_depth=1000 killers:killers=0"
