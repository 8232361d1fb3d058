// loom_wgmma_lists.cuh -- operand lists for the asm of loom_wgmma.cuh.
//
// Lists by the number of accumulator registers: LOOM_R_<regs> numbers them for the asm text,
// LOOM_F_<regs> (float) or LOOM_U_<regs> (u32) binds them to d[]. They are written out because a
// macro cannot count, and without nested calls because every kernel pays for preprocessing them.
#define LOOM_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define LOOM_U2(i) "+r"(d[i]), "+r"(d[i + 1])
#define LOOM_U4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])

#define LOOM_R_2 "%0,%1"
#define LOOM_R_4 "%0,%1,%2,%3"
#define LOOM_R_6 "%0,%1,%2,%3,%4,%5"
#define LOOM_R_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define LOOM_R_10 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9"
#define LOOM_R_12 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11"
#define LOOM_R_14 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13"
#define LOOM_R_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define LOOM_R_18 LOOM_R_16 ",%16,%17"
#define LOOM_R_20 LOOM_R_16 ",%16,%17,%18,%19"
#define LOOM_R_22 LOOM_R_16 ",%16,%17,%18,%19,%20,%21"
#define LOOM_R_24 LOOM_R_16 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define LOOM_R_26 LOOM_R_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25"
#define LOOM_R_28 LOOM_R_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27"
#define LOOM_R_30 LOOM_R_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29"
#define LOOM_R_32 LOOM_R_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define LOOM_R_34 LOOM_R_32 ",%32,%33"
#define LOOM_R_36 LOOM_R_32 ",%32,%33,%34,%35"
#define LOOM_R_38 LOOM_R_32 ",%32,%33,%34,%35,%36,%37"
#define LOOM_R_40 LOOM_R_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define LOOM_R_42 LOOM_R_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41"
#define LOOM_R_44 LOOM_R_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43"
#define LOOM_R_46 LOOM_R_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45"
#define LOOM_R_48 LOOM_R_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define LOOM_R_50 LOOM_R_48 ",%48,%49"
#define LOOM_R_52 LOOM_R_48 ",%48,%49,%50,%51"
#define LOOM_R_54 LOOM_R_48 ",%48,%49,%50,%51,%52,%53"
#define LOOM_R_56 LOOM_R_48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define LOOM_R_58 LOOM_R_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57"
#define LOOM_R_60 LOOM_R_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59"
#define LOOM_R_62 LOOM_R_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61"
#define LOOM_R_64 LOOM_R_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define LOOM_R_68 LOOM_R_64 ",%64,%65,%66,%67"
#define LOOM_R_72 LOOM_R_64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define LOOM_R_76 LOOM_R_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75"
#define LOOM_R_80 LOOM_R_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define LOOM_R_84 LOOM_R_80 ",%80,%81,%82,%83"
#define LOOM_R_88 LOOM_R_80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define LOOM_R_92 LOOM_R_80 ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91"
#define LOOM_R_96 LOOM_R_80 ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define LOOM_R_100 LOOM_R_96 ",%96,%97,%98,%99"
#define LOOM_R_104 LOOM_R_96 ",%96,%97,%98,%99,%100,%101,%102,%103"
#define LOOM_R_108 LOOM_R_96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107"
#define LOOM_R_112                                                                                 \
  LOOM_R_96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define LOOM_R_116 LOOM_R_112 ",%112,%113,%114,%115"
#define LOOM_R_120 LOOM_R_112 ",%112,%113,%114,%115,%116,%117,%118,%119"
#define LOOM_R_124 LOOM_R_112 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123"
#define LOOM_R_128                                                                                 \
  LOOM_R_112 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

#define LOOM_F_4 LOOM_F4(0)
#define LOOM_F_8 LOOM_F4(0), LOOM_F4(4)
#define LOOM_F_12 LOOM_F4(0), LOOM_F4(4), LOOM_F4(8)
#define LOOM_F_16 LOOM_F4(0), LOOM_F4(4), LOOM_F4(8), LOOM_F4(12)
#define LOOM_F_20 LOOM_F_16, LOOM_F4(16)
#define LOOM_F_24 LOOM_F_16, LOOM_F4(16), LOOM_F4(20)
#define LOOM_F_28 LOOM_F_16, LOOM_F4(16), LOOM_F4(20), LOOM_F4(24)
#define LOOM_F_32 LOOM_F_16, LOOM_F4(16), LOOM_F4(20), LOOM_F4(24), LOOM_F4(28)
#define LOOM_F_36 LOOM_F_32, LOOM_F4(32)
#define LOOM_F_40 LOOM_F_32, LOOM_F4(32), LOOM_F4(36)
#define LOOM_F_44 LOOM_F_32, LOOM_F4(32), LOOM_F4(36), LOOM_F4(40)
#define LOOM_F_48 LOOM_F_32, LOOM_F4(32), LOOM_F4(36), LOOM_F4(40), LOOM_F4(44)
#define LOOM_F_52 LOOM_F_48, LOOM_F4(48)
#define LOOM_F_56 LOOM_F_48, LOOM_F4(48), LOOM_F4(52)
#define LOOM_F_60 LOOM_F_48, LOOM_F4(48), LOOM_F4(52), LOOM_F4(56)
#define LOOM_F_64 LOOM_F_48, LOOM_F4(48), LOOM_F4(52), LOOM_F4(56), LOOM_F4(60)
#define LOOM_F_68 LOOM_F_64, LOOM_F4(64)
#define LOOM_F_72 LOOM_F_64, LOOM_F4(64), LOOM_F4(68)
#define LOOM_F_76 LOOM_F_64, LOOM_F4(64), LOOM_F4(68), LOOM_F4(72)
#define LOOM_F_80 LOOM_F_64, LOOM_F4(64), LOOM_F4(68), LOOM_F4(72), LOOM_F4(76)
#define LOOM_F_84 LOOM_F_80, LOOM_F4(80)
#define LOOM_F_88 LOOM_F_80, LOOM_F4(80), LOOM_F4(84)
#define LOOM_F_92 LOOM_F_80, LOOM_F4(80), LOOM_F4(84), LOOM_F4(88)
#define LOOM_F_96 LOOM_F_80, LOOM_F4(80), LOOM_F4(84), LOOM_F4(88), LOOM_F4(92)
#define LOOM_F_100 LOOM_F_96, LOOM_F4(96)
#define LOOM_F_104 LOOM_F_96, LOOM_F4(96), LOOM_F4(100)
#define LOOM_F_108 LOOM_F_96, LOOM_F4(96), LOOM_F4(100), LOOM_F4(104)
#define LOOM_F_112 LOOM_F_96, LOOM_F4(96), LOOM_F4(100), LOOM_F4(104), LOOM_F4(108)
#define LOOM_F_116 LOOM_F_112, LOOM_F4(112)
#define LOOM_F_120 LOOM_F_112, LOOM_F4(112), LOOM_F4(116)
#define LOOM_F_124 LOOM_F_112, LOOM_F4(112), LOOM_F4(116), LOOM_F4(120)
#define LOOM_F_128 LOOM_F_112, LOOM_F4(112), LOOM_F4(116), LOOM_F4(120), LOOM_F4(124)

#define LOOM_U_2 LOOM_U2(0)
#define LOOM_U_4 LOOM_U4(0)
#define LOOM_U_6 LOOM_U4(0), LOOM_U2(4)
#define LOOM_U_8 LOOM_U4(0), LOOM_U4(4)
#define LOOM_U_10 LOOM_U4(0), LOOM_U4(4), LOOM_U2(8)
#define LOOM_U_12 LOOM_U4(0), LOOM_U4(4), LOOM_U4(8)
#define LOOM_U_14 LOOM_U4(0), LOOM_U4(4), LOOM_U4(8), LOOM_U2(12)
#define LOOM_U_16 LOOM_U4(0), LOOM_U4(4), LOOM_U4(8), LOOM_U4(12)
#define LOOM_U_18 LOOM_U_16, LOOM_U2(16)
#define LOOM_U_20 LOOM_U_16, LOOM_U4(16)
#define LOOM_U_22 LOOM_U_16, LOOM_U4(16), LOOM_U2(20)
#define LOOM_U_24 LOOM_U_16, LOOM_U4(16), LOOM_U4(20)
#define LOOM_U_26 LOOM_U_16, LOOM_U4(16), LOOM_U4(20), LOOM_U2(24)
#define LOOM_U_28 LOOM_U_16, LOOM_U4(16), LOOM_U4(20), LOOM_U4(24)
#define LOOM_U_30 LOOM_U_16, LOOM_U4(16), LOOM_U4(20), LOOM_U4(24), LOOM_U2(28)
#define LOOM_U_32 LOOM_U_16, LOOM_U4(16), LOOM_U4(20), LOOM_U4(24), LOOM_U4(28)
#define LOOM_U_34 LOOM_U_32, LOOM_U2(32)
#define LOOM_U_36 LOOM_U_32, LOOM_U4(32)
#define LOOM_U_38 LOOM_U_32, LOOM_U4(32), LOOM_U2(36)
#define LOOM_U_40 LOOM_U_32, LOOM_U4(32), LOOM_U4(36)
#define LOOM_U_42 LOOM_U_32, LOOM_U4(32), LOOM_U4(36), LOOM_U2(40)
#define LOOM_U_44 LOOM_U_32, LOOM_U4(32), LOOM_U4(36), LOOM_U4(40)
#define LOOM_U_46 LOOM_U_32, LOOM_U4(32), LOOM_U4(36), LOOM_U4(40), LOOM_U2(44)
#define LOOM_U_48 LOOM_U_32, LOOM_U4(32), LOOM_U4(36), LOOM_U4(40), LOOM_U4(44)
#define LOOM_U_50 LOOM_U_48, LOOM_U2(48)
#define LOOM_U_52 LOOM_U_48, LOOM_U4(48)
#define LOOM_U_54 LOOM_U_48, LOOM_U4(48), LOOM_U2(52)
#define LOOM_U_56 LOOM_U_48, LOOM_U4(48), LOOM_U4(52)
#define LOOM_U_58 LOOM_U_48, LOOM_U4(48), LOOM_U4(52), LOOM_U2(56)
#define LOOM_U_60 LOOM_U_48, LOOM_U4(48), LOOM_U4(52), LOOM_U4(56)
#define LOOM_U_62 LOOM_U_48, LOOM_U4(48), LOOM_U4(52), LOOM_U4(56), LOOM_U2(60)
#define LOOM_U_64 LOOM_U_48, LOOM_U4(48), LOOM_U4(52), LOOM_U4(56), LOOM_U4(60)
