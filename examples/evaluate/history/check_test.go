package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const oldImage, newImage = "pause:1", "pause:2"

// world plays a cluster of four pods and tells a Recorder of it.
type world struct {
	recorder Recorder
	pods     map[string]*corev1.Pod
}

var promise = Promise{Pods: 4, MaxUnavailable: 2, Container: "main", Image: newImage}

func newWorld() *world {
	w := &world{pods: map[string]*corev1.Pod{}}
	for i, name := range []string{"a", "b", "c", "d"} {
		w.create(name, fmt.Sprint("10.0.0.", i))
	}
	return w
}

func (w *world) create(name, ip string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name + ip)}}
	pod.Spec.NodeName = "node"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: oldImage}, {Name: "side", Image: "side:1"}}
	pod.Status.PodIP = ip
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "first"}, {Name: "side", ContainerID: "side"}}
	w.pods[name] = pod
	w.recorder.Set(pod)
}

// change is one event: a pod is another from now on.
func (w *world) change(name string, edit func(*corev1.Pod)) {
	pod := w.pods[name].DeepCopy()
	edit(pod)
	w.pods[name] = pod
	w.recorder.Set(pod)
}

func (w *world) delete(name string) {
	w.recorder.Delete(w.pods[name])
	delete(w.pods, name)
}

func ready(is bool) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions[0].Status = corev1.ConditionFalse
		if is {
			pod.Status.Conditions[0].Status = corev1.ConditionTrue
		}
	}
}

func image(pod *corev1.Pod) { pod.Spec.Containers[0].Image = newImage }

func restart(pod *corev1.Pod) {
	s := &pod.Status.ContainerStatuses[0]
	s.RestartCount++
	s.ContainerID = fmt.Sprint("restarted-", s.RestartCount)
}

// update updates pods side by side, as it should be.
func (w *world) update(names ...string) {
	for _, step := range []func(*corev1.Pod){ready(false), image, restart, ready(true)} {
		for _, name := range names {
			w.change(name, step)
		}
	}
}

func (w *world) check() []Check {
	var final []*corev1.Pod
	for _, pod := range w.pods {
		final = append(final, pod)
	}
	return w.recorder.Check(final)
}

// run plays a rollout in two stages; first and second are what happens in them.
func run(first, second func(w *world)) []Check {
	w := newWorld()
	w.recorder.Begin(promise)
	w.recorder.Allow("partition 50%", 2)
	first(w)
	w.recorder.Allow("partition 0", 4)
	second(w)
	return w.check()
}

func firstHalf(w *world)  { w.update("a", "b") }
func secondHalf(w *world) { w.update("c", "d") }

func TestGoodRollout(t *testing.T) {
	want := []Check{
		{true, "4 of 4 pods kept their name and UID; none was deleted, none created"},
		{true, "4 of 4 pods kept their node and their IP"},
		{true, "4 of 4 containers restarted in place exactly once: restartCount + 1"},
		{true, "4 of 4 pods are Ready with the image pause:2"},
		{true, "at most 2 pods were unavailable at any moment (allowed: 2; 19 states)"},
		{true, "4 of 4 pods were not Ready while their container was exchanged"},
		{true, "2 of 4 pods moved with partition 50% (expected: 2)"},
		{true, "4 of 4 pods moved with partition 0 (expected: 4)"},
	}
	if diff := cmp.Diff(want, run(firstHalf, secondHalf)); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// Every check fails in some history, and names what was wrong.
func TestBrokenPromises(t *testing.T) {
	then := func(more func(w *world)) func(w *world) {
		return func(w *world) { secondHalf(w); more(w) }
	}
	replace := func(name string) func(w *world) {
		return func(w *world) {
			w.delete(name)
			w.create(name+"2", "10.0.0.9")
			w.change(name+"2", image)
		}
	}
	cases := map[string]struct {
		first, second func(w *world)
		want          []string // of failed checks, in order
	}{
		"a pod is replaced instead of updated": {firstHalf, func(w *world) { w.update("c"); replace("d")(w) }, []string{
			"3 of 4 pods kept their name and UID; deleted: d; created: d2",
			"3 of 4 pods kept their node and their IP",
			"3 of 4 containers restarted in place exactly once: restartCount + 1",
			"3 of 4 pods are Ready with the image pause:2",
			"3 of 4 pods were not Ready while their container was exchanged",
		}},
		"a pod is being deleted at the end": {firstHalf, then(func(w *world) {
			w.change("d", func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} })
		}), []string{"4 of 4 pods kept their name and UID; deleted: d"}},
		"an additional pod comes and goes": {firstHalf, then(func(w *world) {
			w.create("e", "10.0.0.5")
			w.delete("e")
		}), []string{"4 of 4 pods kept their name and UID; deleted: e; created: e"}},
		"a pod changes its IP and changes it back": {firstHalf, then(func(w *world) {
			w.change("b", func(pod *corev1.Pod) { pod.Status.PodIP = "10.0.0.77" })
			w.change("b", func(pod *corev1.Pod) { pod.Status.PodIP = "10.0.0.1" })
		}), []string{"3 of 4 pods kept their node and their IP; not: b"}},
		"a pod changes its node": {firstHalf, then(func(w *world) {
			w.change("b", func(pod *corev1.Pod) { pod.Spec.NodeName = "other" })
		}), []string{"3 of 4 pods kept their node and their IP; not: b"}},
		"a container restarts twice": {firstHalf, then(func(w *world) { w.change("c", restart) }), []string{
			"3 of 4 containers restarted in place exactly once: restartCount + 1; not: c +2",
		}},
		"another container restarts too": {firstHalf, then(func(w *world) {
			w.change("c", func(pod *corev1.Pod) { pod.Status.ContainerStatuses[1].RestartCount++ })
		}), []string{"3 of 4 containers restarted in place exactly once: restartCount + 1; not: c +2"}},
		"a container restarts, but is counted as the old one": {firstHalf, then(func(w *world) {
			w.change("c", func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "first" })
		}), []string{"3 of 4 pods are Ready with the image pause:2; not: c"}},
		"a pod is not Ready at the end": {firstHalf, then(func(w *world) { w.change("a", ready(false)) }), []string{
			"3 of 4 pods are Ready with the image pause:2; not: a",
		}},
		"three pods are updated at once": {firstHalf, func(w *world) {
			w.change("a", ready(false)) // an updated pod fails
			secondHalf(w)
			w.change("a", ready(true))
		}, []string{"at most 3 pods were unavailable at any moment (allowed: 2; 21 states): a, c, d"}},
		"pods are missing for a moment": {firstHalf, func(w *world) {
			w.change("a", ready(false))
			w.change("b", ready(false))
			w.delete("c")
			w.create("c", "10.0.0.2") // the same UID: the watch was wrong, or the world is
			w.change("a", ready(true))
			w.change("b", ready(true))
			secondHalf(w)
		}, []string{
			"4 of 4 pods kept their name and UID; deleted: c",
			"at most 3 pods were unavailable at any moment (allowed: 2; 25 states): a, b, (missing)",
		}},
		"a pod is Ready while its container is exchanged": {firstHalf, func(w *world) {
			w.change("c", image)
			w.change("c", ready(false))
			w.change("c", restart)
			w.change("c", ready(true))
			w.update("d")
		}, []string{"3 of 4 pods were not Ready while their container was exchanged; not: c"}},
		"more pods move than the partition allows": {func(w *world) { firstHalf(w); w.update("c") }, func(w *world) { w.update("d") }, []string{
			"3 of 4 pods moved with partition 50% (expected: 2)",
		}},
		"fewer pods move than the partition allows": {func(w *world) { w.update("a") }, func(w *world) { w.update("b"); secondHalf(w) }, []string{
			"1 of 4 pods moved with partition 50% (expected: 2)",
		}},
		"nothing happens at all": {func(w *world) {}, func(w *world) {}, []string{
			"0 of 4 containers restarted in place exactly once: restartCount + 1; not: a +0, b +0, c +0, d +0",
			"0 of 4 pods are Ready with the image pause:2; not: a, b, c, d",
			"at most 0 pods were unavailable at any moment (allowed: 2; 3 states); but a container cannot restart without it: the watch has missed the update",
			"0 of 4 pods were not Ready while their container was exchanged",
			"0 of 4 pods moved with partition 50% (expected: 2)",
			"0 of 4 pods moved with partition 0 (expected: 4)",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var failed []string
			for _, check := range run(c.first, c.second) {
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

// Pods that may move together have no order among themselves.
func TestOrder(t *testing.T) {
	cases := map[string]struct {
		moved []string
		ok    bool
		want  string
	}{
		"one by one":             {[]string{"d", "c", "b", "a"}, true, "4 of 4 pods moved in their turn, d first"},
		"two at a time":          {[]string{"c", "d", "a", "b"}, true, "4 of 4 pods moved in their turn, d first"},
		"one overtakes two":      {[]string{"d", "a", "c", "b"}, false, "3 of 4 pods moved in their turn, d first; not: a"},
		"from the lowest up":     {[]string{"a", "b", "c", "d"}, false, "2 of 4 pods moved in their turn, d first; not: a, b"},
		"one that has no order":  {[]string{"e", "d", "c", "b"}, false, "3 of 4 pods moved in their turn, d first; not: e"},
		"one that does not move": {[]string{"d", "c", "b"}, false, "3 of 4 pods moved in their turn, d first"},
	}
	for name, c := range cases {
		w := newWorld()
		w.create("e", "10.0.0.4")
		p := promise
		p.Order = []string{"d", "c", "b", "a"}
		w.recorder.Begin(p)
		w.update(c.moved...)
		got := w.check()[6]
		if want := (Check{c.ok, c.want}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// The API server's last word counts, also where events are missing.
func TestFinalListCounts(t *testing.T) {
	w := newWorld()
	w.recorder.Begin(promise)
	firstHalf(w)
	secondHalf(w)
	delete(w.pods, "a") // no event
	checks := w.check()
	if want := "3 of 4 pods kept their name and UID; deleted: a"; checks[0].OK || checks[0].Text != want {
		t.Errorf("first check: got %+v, want a failure: %s", checks[0], want)
	}
}

func TestPodsWithoutPlace(t *testing.T) {
	w := newWorld()
	for name := range w.pods {
		w.change(name, func(pod *corev1.Pod) { pod.Status.PodIP = "" })
	}
	w.recorder.Begin(promise)
	firstHalf(w)
	secondHalf(w)
	if check := w.check()[1]; check.OK || !strings.HasPrefix(check.Text, "0 of 4 pods kept") {
		t.Errorf("pods without an IP have none to keep: got %+v, want a failure", check)
	}
}

func TestNoPodsAtAll(t *testing.T) {
	var r Recorder
	r.Begin(promise)
	r.Allow("partition 0", 4)
	for _, check := range r.Check(nil) {
		if check.OK {
			t.Errorf("holds without any pod: %s", check.Text)
		}
	}
}

func TestMostUnavailable(t *testing.T) {
	w := newWorld()
	if n, begun := w.recorder.MostUnavailable(); n != 0 || begun {
		t.Errorf("before Begin: got %d, %t", n, begun)
	}
	w.recorder.Begin(promise)
	w.change("a", ready(false))
	w.change("b", ready(false))
	w.change("a", ready(true))
	if n, begun := w.recorder.MostUnavailable(); n != 2 || !begun {
		t.Errorf("got %d, %t, want the 2 that were unavailable at a time", n, begun)
	}
}
