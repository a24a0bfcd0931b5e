package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// rollBack plays a rollout of a bad image that is rolled back; pods with it break.
func rollBack(during func(w *world)) []Check {
	w := newWorld()
	p := promise
	p.RollBack, p.Order = oldImage, []string{"d", "c", "b", "a"}
	w.recorder.Begin(p)
	w.recorder.Allow("pause:2", 2)
	during(w)
	return w.check()
}

func breakDown(w *world, names ...string) {
	for _, name := range names {
		w.change(name, ready(false))
		w.change(name, image)
	}
}

// repair gives pods the old image in a new container.
func repair(w *world, names ...string) {
	for _, name := range names {
		w.change(name, func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = oldImage })
		w.change(name, restart)
		w.change(name, ready(true))
	}
}

func TestGoodRollBack(t *testing.T) {
	want := []Check{
		{true, "4 of 4 pods kept their name and UID; none was deleted, none created"},
		{true, "4 of 4 pods kept their node and their IP"},
		{true, "2 of 4 containers restarted in place exactly once: restartCount + 1; 2 did not restart"},
		{true, "4 of 4 pods are Ready with the image pause:1"},
		{true, "at most 2 pods were unavailable at any moment (allowed: 2; 12 states)"},
		{true, "2 of 4 pods were not Ready while their container was exchanged"},
		{true, "2 of 4 pods moved in their turn, d first"},
		{true, "2 of 4 pods moved with pause:2 (expected: 2)"},
	}
	got := rollBack(func(w *world) { breakDown(w, "c", "d"); repair(w, "c", "d") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestBrokenRollBacks(t *testing.T) {
	cases := map[string]struct {
		during func(w *world)
		want   []string // of failed checks, in order
	}{
		"a third pod gets the bad image": {func(w *world) { breakDown(w, "d", "c", "b"); repair(w, "d", "c", "b") }, []string{
			"3 of 4 containers restarted in place exactly once: restartCount + 1; 1 did not restart",
			"at most 3 pods were unavailable at any moment (allowed: 2; 17 states): b, c, d",
			"3 of 4 pods were not Ready while their container was exchanged",
			"3 of 4 pods moved in their turn, d first",
			"3 of 4 pods moved with pause:2 (expected: 2)",
		}},
		"a pod that was not reached restarts": {func(w *world) {
			breakDown(w, "d", "c")
			repair(w, "d", "c")
			w.change("a", restart)
		}, []string{
			"2 of 4 containers restarted in place exactly once: restartCount + 1; 1 did not restart; not: a +1",
			"3 of 4 pods are Ready with the image pause:1; not: a",
		}},
		"a broken pod is not repaired": {func(w *world) { breakDown(w, "d", "c"); repair(w, "d") }, []string{
			"1 of 4 containers restarted in place exactly once: restartCount + 1; 2 did not restart; not: c +0",
			"3 of 4 pods are Ready with the image pause:1; not: c",
		}},
		"a pod is Ready before the roll-back has exchanged its container": {func(w *world) {
			breakDown(w, "d", "c")
			w.change("d", ready(true))
			repair(w, "d", "c")
		}, []string{"1 of 4 pods were not Ready while their container was exchanged; not: d"}},
		"a broken pod is replaced": {func(w *world) {
			breakDown(w, "d", "c")
			repair(w, "d")
			w.delete("c")
			w.create("c", "10.0.0.9")
		}, []string{
			"3 of 4 pods kept their name and UID; deleted: c; created: c",
			"3 of 4 pods kept their node and their IP",
			"1 of 4 containers restarted in place exactly once: restartCount + 1; 2 did not restart",
			"3 of 4 pods are Ready with the image pause:1",
		}},
		"the lowest pod is first": {func(w *world) { breakDown(w, "a", "d"); repair(w, "a", "d") }, []string{
			"1 of 4 pods moved in their turn, d first; not: a",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var failed []string
			for _, check := range rollBack(c.during) {
				if !check.OK {
					failed = append(failed, check.Text)
				}
			}
			if diff := cmp.Diff(c.want, failed); diff != "" {
				t.Errorf("failed checks (-want +got):\n%s", diff)
			}
		})
	}
}
