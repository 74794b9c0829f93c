"""Motions of scenarios, without results."""


def motion_of(scenario, times):
    """The states at some times, with the energies there, and the problem."""
    problem = scenario.build()
    motion = problem.integrator.start(problem.system, problem.state)
    states = [motion.advance(t) for t in times]
    return problem, states, motion.energies(states[-1])
