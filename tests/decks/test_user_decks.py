"""Decks of users on the web: those that could be imported go on to be. They are fetched, and are no part of symplex.

A deck that cannot be fetched, or is not the one any more that was imported, is skipped.
"""

import hashlib
from urllib.error import URLError
from urllib.request import urlopen

import pytest

import symplex as sx
from symplex.decks.units import UNITS
from symplex.errors import MeshError

SECONDS = 10.0  # to fetch a deck
# By repository of GitHub: paths, with the first 16 digits of the SHA-256 of the content and how many steps it opens.
DECKS = {
    "Dhondtguido/CalculiX": {
        "test/b31.inp": ("7fec44993bf8304f", 1),
        "test/ball.inp": ("3c62228165d29442", 1),
        "test/beamlin.inp": ("4af3ae1a8bd25b2a", 1),
        "test/beamtor.inp": ("8e989ade5d4ed0ca", 1),
        "test/boxprofile.inp": ("938b6af3da5f45be", 2),
        "test/boxprofile2.inp": ("e942ae99457f16b7", 1),
        "test/edgeload.inp": ("417683ae380cd749", 1),
        "test/rot4.inp": ("d6c334152bbfaaed", 2),
        "test/section.inp": ("19b923d49e823c4d", 1),
        "test/section4.inp": ("0793bd6354219925", 1),
        "test/shell2.inp": ("29e66b0f53d29c92", 1),
        "test/shell3.inp": ("aacb13a19f27ce51", 1),
        "test/shell4.inp": ("96b0916bcc710f8c", 1),
        "test/shell5.inp": ("726251208ea1b6e1", 1),
        "test/shell5a.inp": ("571556da0bc773cf", 1),
        "test/shell5b.inp": ("d0b8e59adc55137e", 1),
        "test/shell6.inp": ("509d8de2fcbd6c7e", 1),
        "test/shell6rot2.inp": ("6f45dd87feeee237", 1),
        "test/shell7.inp": ("9b04132ff965ce61", 1),
        "test/shell7rot.inp": ("69185d4c6e224bcd", 1),
        "test/shell7rot2.inp": ("f2d1a2f06d3bba6e", 1),
        "test/shellbeam.inp": ("cfd9047c78b9001d", 1),
        "test/shellf2.inp": ("d768b0616bfa3662", 1),
        "test/simplebeam.inp": ("c936fa174b8ad3f9", 1),
        "test/simplebeampipe1.inp": ("4baee2bc2d6d84a3", 1),
        "test/simplebeampipe2.inp": ("0b6381e505eadb2e", 1),
        "test/simplebeampipe3.inp": ("19dfa148cacb4654", 1),
        "test/simplebeampipe4.inp": ("d180dad051132911", 1),
        "test/simplebeampipe5.inp": ("73cf79ca3b3e317e", 1),
        "test/swing.inp": ("44712258875fcadf", 1),
        "test/zerocoeff.inp": ("c4c6f73aa0922b54", 1),
    },
    "JuliaFEM/AbaqusReader.jl": {
        "test/test_manual_examples/frequency_analysis.inp": ("e535e072adf09b4c", 1),
        "test/test_manual_examples/plastic_analysis.inp": ("90154e5654cc630d", 2),
        "test/test_manual_examples/shell_analysis.inp": ("89575d84e3182898", 1),
        "test/test_manual_examples/static_analysis.inp": ("1e1b5c47f917a860", 1),
        "test/test_parse_mesh/cube_tet4.inp": ("5b9b9190684e39ec", 1),
        "test/test_parse_model/cube_tet4.inp": ("5ebc223acc88be01", 1),
        "test/test_parse_model_mixed_case/cube_tet4_mixed_case.inp": ("23bb9786dd92e255", 1),
    },
    "Krande/adapy": {
        "files/fem_files/calculix/contact2e.inp": ("cbaf9089a78225a0", 1),
    },
    "SaschaGolod/Finite-Element-Analysis-of-Composite-Materials-using-Abaqus--2nd-Edition--Ever-J.-Barbero": {
        "2020/Chapter_2/Ex_2.2/Ex_2.2.inp": ("dbce2cf7575a4355", 1),
        "2020/Chapter_4/Ex_4.2/ABQ.inp": ("2cb985900fa1283e", 1),
        "2020/Chapter_4/Ex_4.2/BMI3.inp": ("72935ce38172ecad", 1),
    },
    "calculix/CalculiX-Examples": {
        "Dynamics/Discrete/MS.inp": ("32269cd61eb1348f", 1),
        "Dynamics/Discrete/MSM.inp": ("db57d5eb708f5c93", 1),
        "Test/Distributing/minimal.inp": ("d6f7cc65ab6e43ee", 3),
    },
    "calculix/beso": {
        "wiki_files/example_1/Plane_mesh.inp": ("16ca9db13b3a919a", 1),
    },
    "calculix/examples": {
        "cgx/solverfile.inp": ("698a48ba65fc7943", 1),
        "launcher/c4w/svsb/_nodal_ld.inp": ("28fd0542c32d853a", 1),
        "launcher/cable/_links.inp": ("059464e92677c734", 1),
        "launcher/cont/clamp/_cl.inp": ("360c87198e8ca99f", 1),
        "launcher/nl/pl-lu/_s8r-linear.inp": ("279bb2ec72ce6d89", 1),
        "launcher/truss/_truss.inp": ("48388325439bb31c", 1),
        "other/Jan_Lukas_modal_dynamic_beammodal.inp": ("d645a22606467b84", 1),
        "other/Jan_Lukas_modal_dynamic_staticbeam2.inp": ("9eda641b893efe45", 1),
        "other/Jan_Lukas_static_structural.inp": ("ce488e184f199373", 1),
        "other/John_Mannisto_blade_sector.inp": ("b8c780693071f83b", 2),
        "other/John_Mannisto_buckling_trick.inp": ("d9ab872c4e608385", 1),
        "yahoo/1.inp": ("51a8a7a5ce6cb357", 3),
        "yahoo/BOX_TEST_REACT_FORCE.inp": ("a6ceddc95bc6afbf", 3),
        "yahoo/Berechnung.inp": ("15ede52da7d596d4", 1),
        "yahoo/Boltedjoint.inp": ("77673498c4b06e8d", 1),
        "yahoo/DC-Kinematic.inp": ("aa25b8b7a69caa11", 1),
        "yahoo/Frequencies_numt117_numg32.inp": ("ba8b004e6d8a58db", 1),
        "yahoo/Not_Working.inp": ("f7689f6076e08b06", 1),
        "yahoo/O-profile_intitial_temp.inp": ("7dddffe678c282a0", 1),
        "yahoo/PLATE.inp": ("337d623e5b31c023", 1),
        "yahoo/PressureGravity.inp": ("34027e96869a4d4d", 1),
        "yahoo/Problem_Truss_Model.inp": ("035f4341d08f5972", 1),
        "yahoo/S8-elements.inp": ("d043ead414571e3f", 1),
        "yahoo/TestCube-Equation.inp": ("ec10df215b6f7875", 1),
        "yahoo/TestCube-Rigid.inp": ("a33dbf9e37ff394b", 1),
        "yahoo/TransformHinge.inp": ("49d2db1cd5523baf", 1),
        "yahoo/Working.inp": ("bb4fe3ae40a34bac", 1),
        "yahoo/badshape1.inp": ("b42a82c20ed34b49", 1),
        "yahoo/badshape1b.inp": ("fd824082afec9612", 1),
        "yahoo/badshape2.inp": ("95fcb7b730075a65", 1),
        "yahoo/badshape2b.inp": ("c15c7ed456fc960b", 1),
        "yahoo/balkenm.inp": ("d00b2417f37980bb", 1),
        "yahoo/beam.inp": ("bc9c8f84b03160ec", 1),
        "yahoo/beam_3D_coupling_rigid-body_compl.inp": ("b33eee7328c14e1c", 1),
        "yahoo/beam_coupling_complete.inp": ("a13b8cd493b31e86", 1),
        "yahoo/beamabq3.inp": ("76cf1d4739799cf6", 1),
        "yahoo/beamdy8.inp": ("ba6b3434eed40aae", 1),
        "yahoo/beamp.inp": ("4162c3137e6d45db", 1),
        "yahoo/beamwrite.inp": ("56a684b905ef3c32", 4),
        "yahoo/beamwrite3.inp": ("343b04b782e3149e", 1),
        "yahoo/bending_moment.inp": ("a9499898f88d2fc6", 1),
        "yahoo/bimp.inp": ("a0f9b53d77b074d1", 1),
        "yahoo/blocks.inp": ("97553399e24529cb", 1),
        "yahoo/buckling_Case2_calc.inp": ("96f56e03bce5e027", 1),
        "yahoo/cal_test_dyn_cx.inp": ("ad8fc5433eb98126", 1),
        "yahoo/cantilever_beam.inp": ("fa4157a33f728d00", 1),
        "yahoo/circ.inp": ("b94adebaeac554fc", 1),
        "yahoo/dam_simple.inp": ("47a5440e7e6cf1ff", 1),
        "yahoo/dtest.inp": ("665e5df1d8e15ed2", 1),
        "yahoo/elastic_contact.inp": ("e948a2e028d545ad", 1),
        "yahoo/expbalkenload.inp": ("4cb3836cf5852826", 1),
        "yahoo/finer-shells-abq.inp": ("f8b4a45ea702e103", 1),
        "yahoo/fstatstauchs4.inp": ("8761c138a286005f", 1),
        "yahoo/gg_calculix.inp": ("fc573c883d2e22fc", 1),
        "yahoo/hinge.inp": ("bae16c013c2e529f", 1),
        "yahoo/inp_combined_change-contact.inp": ("2c4cbe906ae001f1", 1),
        "yahoo/inp_equation-only-model-space.inp": ("162c4c0808c5dfa6", 1),
        "yahoo/ip_calculix.inp": ("2a9fe8ddc1832ace", 1),
        "yahoo/largerotation1dof_truss.inp": ("20351b6871f4494e", 1),
        "yahoo/linear2.inp": ("1988cf9062b3668a", 1),
        "yahoo/linear_dload_abaqus.inp": ("776f9b015a4ab8d5", 1),
        "yahoo/linear_dload_calculix.inp": ("f35ad19e4cb25574", 1),
        "yahoo/main.inp": ("542b3a326363d9c9", 1),
        "yahoo/main_combined_22_08_2016_7_53.inp": ("13ad3c3e75b55e32", 1),
        "yahoo/mhgcdo3ibt.inp": ("a0de92138424e2c0", 1),
        "yahoo/mt.inp": ("61f4450b2340b4b1", 1),
        "yahoo/plate.inp": ("2f110069189e0c27", 1),
        "yahoo/plate2.inp": ("fbff9576adc70087", 1),
        "yahoo/plate3.inp": ("2546348eae44ac32", 1),
        "yahoo/preloadCLOAD.inp": ("26bed5cc74b6eb5d", 2),
        "yahoo/preloadDSLOAD.inp": ("04cfabd491275582", 2),
        "yahoo/pressure_amplitude_2.inp": ("0b7009249d85b65c", 1),
        "yahoo/pressure_amplitude_all.inp": ("fa925cc73c9f3202", 1),
        "yahoo/prestress.inp": ("c8d4bd64ba6f5471", 2),
        "yahoo/prestress_amplitude.inp": ("6641dd3e584d2bb6", 1),
        "yahoo/reinf.inp": ("490caff7241ad0c9", 1),
        "yahoo/rod_modal_dynamic.inp": ("ee6959ad9c59384b", 2),
        "yahoo/rot-bar-presc.inp": ("1de7241e496f7274", 1),
        "yahoo/rot-bar-presc2.inp": ("e50bbe3db9b51028", 1),
        "yahoo/rot-bar.inp": ("f46a6574f41cf628", 1),
        "yahoo/rot-solid-lateral.inp": ("2751f4b45c520331", 1),
        "yahoo/rot-solid-vertical.inp": ("08593bedc71ec4c5", 1),
        "yahoo/segment_steady_state.inp": ("e11d989b833216f7", 1),
        "yahoo/shell-beam_element_equation.inp": ("51706366d3934f3f", 1),
        "yahoo/shell.inp": ("78aae2b0a826b3a7", 1),
        "yahoo/shell3.inp": ("78936f312d1b8797", 1),
        "yahoo/shell_element_equation.inp": ("c463419e3b162116", 1),
        "yahoo/shell_one_sections.inp": ("ca49cf220614f034", 1),
        "yahoo/shell_temp.inp": ("f3068d3881910abb", 3),
        "yahoo/shell_two_sections.inp": ("75d5371540df0351", 1),
        "yahoo/shwallmcL.inp": ("df191e0afc6277e7", 2),
        "yahoo/solid.inp": ("96938e8a40c4d7c6", 1),
        "yahoo/solidplateconnect.inp": ("03bec914c2976fb0", 1),
        "yahoo/static-dynamic-remove-support.inp": ("781e0dd8c55bab0a", 1),
        "yahoo/step_calc.inp": ("f56bd184546f848b", 1),
        "yahoo/tco.inp": ("1ce77be3da15c4c6", 1),
        "yahoo/test.inp": ("a373472432f9b523", 1),
        "yahoo/test_small_c3d8.inp": ("bd0c77a910520d82", 1),
        "yahoo/tiedshear.inp": ("cac45feb44d4b1b5", 1),
        "yahoo/tiedshearandnormal.inp": ("fd7ff1b320d4e6ce", 1),
        "yahoo/tower1a.inp": ("207e29f3e4876a9a", 1),
        "yahoo/tress_2-steps.inp": ("46f528edd8df8947", 2),
        "yahoo/tria-s4.inp": ("d337fd2e8efd5899", 1),
        "yahoo/tria.inp": ("0e52cb1a6a5f801a", 1),
        "yahoo/truss2.inp": ("39d88c3ce5d78bcd", 1),
        "yahoo/unstable.inp": ("12ffae3755fd11ff", 1),
        "yahoo/wshellpoload.inp": ("eacae3f363540e3b", 1),
    },
    "spolanski/CoFEA": {
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Lin_Hex/Coarse_Lin_Hex.inp": ("c079345a4f4fc6bf", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Lin_Tet/Coarse_Lin_Tet.inp": ("9ffe0e64ac268c3f", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Quad_Hex/Coarse_Quad_Hex.inp": (
            "35fb4d47ec57ebd5",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Quad_Tet/Coarse_Quad_Tet.inp": (
            "1b37b1d3c7f43507",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Lin_Hex/Fine_Lin_Hex.inp": ("5973268fc806f518", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Lin_Tet/Fine_Lin_Tet.inp": ("65100c7782126e4d", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Quad_Hex/Fine_Quad_Hex.inp": ("c281309d6cc8d19f", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Quad_Tet/Fine_Quad_Tet.inp": ("bd765991eed6c0bc", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Lin_Hex/Coarse_Lin_Hex.inp": ("0cea846d2ea736d3", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Lin_Tet/Coarse_Lin_Tet.inp": ("690d882e07b0a41b", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Quad_Hex/Coarse_Quad_Hex.inp": (
            "bc887b42a9e722ec",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Quad_Tet/Coarse_Quad_Tet.inp": (
            "5de0646d3938cfc7",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Lin_Hex/Fine_Lin_Hex.inp": ("6a3fb6ffdcbc8502", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Lin_Tet/Fine_Lin_Tet.inp": ("b4b27d891451fffb", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Quad_Hex/Fine_Quad_Hex.inp": ("0ea4b40b4f8e6e57", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Quad_Tet/Fine_Quad_Tet.inp": ("0860d02938c09f5e", 1),
        "benchmarks/07-Raasch-shell-challenge/calculix/raasch-rigidbody.inp": ("dd2b406bbebdc94a", 1),
        "benchmarks/07-Raasch-shell-challenge/calculix/raasch-surface-traction.inp": ("27ca2257524f04d9", 1),
    },
}
EVERY = [(repository, path, *known) for repository, paths in DECKS.items() for path, known in paths.items()]


def imported_in_any_units(deck, folder):
    """Import a deck in the first units that its densities allow."""
    for units in ("mm-t-s", *UNITS):
        try:
            return sx.import_deck(deck, folder, units=units, limit=0.0, overwrite=True)
        except MeshError as error:
            if "give --units" not in str(error):
                raise
    pytest.fail("no units fit")


@pytest.mark.slow
@pytest.mark.parametrize(("repository", "path", "digest", "steps"), EVERY, ids=lambda value: str(value)[-40:])
def test_a_deck_opens(tmp_path, repository, path, digest, steps):
    try:
        with urlopen(f"https://raw.githubusercontent.com/{repository}/HEAD/{path}", timeout=SECONDS) as answer:
            content = answer.read()
    except (URLError, OSError) as error:
        pytest.skip(f"it cannot be fetched: {error}")
    if hashlib.sha256(content).hexdigest()[:16] != digest:
        pytest.skip("it is another one by now")
    (tmp_path / "deck.inp").write_bytes(content)
    imported = imported_in_any_units(tmp_path / "deck.inp", tmp_path / "out")
    assert len(imported.scenarios) >= steps, imported.report()
