from noumena.experiments.demo import Demo


def test_the_sphere_is_recovered_up_to_rotation():
    demonstration = Demo(seed=1, steps=1000, evaluation=2048)
    records = list(demonstration.run(every=400))
    result = demonstration.result()
    assert [record.step for record in records] == [400, 800, 1000]
    assert result.recovered["linear_r2"] > 0.99 > result.identity["linear_r2"]
    assert result.recovered["angle_error_normalised"] < 0.03 < result.identity["angle_error_normalised"]
    assert result.loss > result.floor - 5 * (result.floor_error**2 + result.loss_error**2) ** 0.5


def test_the_same_seed_gives_the_same_numbers():
    first, again = (Demo(seed=2, steps=40, evaluation=256) for _ in range(2))
    assert [record.loss for record in first.run(20)] == [record.loss for record in again.run(20)]
    assert first.result().recovered == again.result().recovered
