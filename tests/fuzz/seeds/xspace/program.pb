
­/host:metadata"Ž‰jit_f(3)*{2w
u
jit_fY:
fusion.1fusion:
dotjit(f)/layer/dota.py ZkLoop
xcustom-callâgemm:xŠ
b.py	"*
hlo_op*
program_id*_pt*
_p*_ct*
_c*
_a*flow*		correlation_id*

fusion.1*allocator_name*allocation_bytes*	value*profile_start_time*	Hlo Proto