package lifecycle_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// world is one pod with all that acts on it: the workload (by way of this
// package), the owner of the hooks, and the kubelet.
type world struct {
	t         *rapid.T
	pod       *corev1.Pod
	lifecycle *v1alpha1.Lifecycle
	atTarget  bool // the pod has the update revision
	complete  bool // the in-place update is complete
	deleted   bool
}

func anyWorld(t *rapid.T) *world {
	state := rapid.SampledFrom([]v1alpha1.StateType{"", preparingNormal, normal, preparingUpdate, updating, updated, preparingDelete}).Draw(t, "state")
	pod := newPod(state)
	for _, l := range []string{"a", "b"} {
		if rapid.Bool().Draw(t, "label "+l) {
			pod.Labels[l] = "true"
		}
	}
	if rapid.Bool().Draw(t, "finalizer") {
		pod.Finalizers = []string{"f"}
	}
	if rapid.Bool().Draw(t, "gate") {
		gate(pod)
		keys := rapid.SampledFrom([]string{"", deleteKey, updateKey, otherKey, otherKey + "," + deleteKey + "," + updateKey}).Draw(t, "keys")
		if keys != "" {
			outOfService(keys)(pod)
		}
	}
	return &world{
		t: t, pod: pod, lifecycle: anyLifecycle(t),
		atTarget: rapid.Bool().Draw(t, "atTarget"), complete: rapid.Bool().Draw(t, "complete"),
	}
}

func anyLifecycle(t *rapid.T) *v1alpha1.Lifecycle {
	if rapid.IntRange(0, 4).Draw(t, "lifecycle") == 0 {
		return nil
	}
	return &v1alpha1.Lifecycle{PreDelete: anyHook(t, "preDelete"), InPlaceUpdate: anyHook(t, "inPlaceUpdate"), PreNormal: anyHook(t, "preNormal")}
}

func anyHook(t *rapid.T, name string) *v1alpha1.LifecycleHook {
	if rapid.IntRange(0, 3).Draw(t, name) == 0 {
		return nil
	}
	h := hook(rapid.SampledFrom([][]string{nil, {"a"}, {"b"}, {"a", "b"}}).Draw(t, name+" labels"))
	if rapid.Bool().Draw(t, name+" finalizer") {
		h.FinalizersHandler = []string{"f"}
	}
	h.MarkPodNotReady = rapid.Bool().Draw(t, name+" markPodNotReady")
	return h
}

func (w *world) refresh(p *podpatch.Patch) bool {
	return lifecycle.Refresh(p, w.pod, w.lifecycle, lifecycle.RefreshInput{AtTarget: w.atTarget, InPlaceComplete: w.complete}, now)
}

// pass is one pass of the workload over the pod. together lets it put more
// than one step into the patch.
func (w *world) pass(wantDelete, together bool) {
	var p podpatch.Patch
	switch {
	case wantDelete || lifecycle.StateOf(w.pod) == preparingDelete:
		held := w.lifecycle != nil && lifecycle.HookedAny(w.lifecycle.PreDelete, w.pod)
		w.deleted, _ = lifecycle.BeginDelete(&p, w.pod, w.lifecycle, now)
		if w.deleted == held {
			w.t.Fatalf("LC-13: delete now is %v for a pod that preDelete holds: %v", w.deleted, held)
		}
	case w.refresh(&p) && !together:
	case !w.atTarget:
		w.update(&p)
	}
	w.apply(&p)
}

func (w *world) update(p *podpatch.Patch) {
	held := w.lifecycle != nil && lifecycle.HookedAny(w.lifecycle.InPlaceUpdate, w.pod)
	running := lifecycle.StateOf(w.pod) == updating && p.Labels[v1alpha1.StateLabel] == nil
	step, reason := lifecycle.BeginUpdate(p, w.pod, w.lifecycle, w.atTarget, now)
	if (step == lifecycle.UpdateStart) != (reason == "") {
		w.t.Fatalf("step %v has the reason %q", step, reason)
	}
	if step != lifecycle.UpdateStart {
		return
	}
	if held && !running {
		w.t.Fatal("LC-3: the update starts while the hook holds the pod")
	}
	w.atTarget, w.complete = true, false
}

func (w *world) apply(p *podpatch.Patch) {
	pod, err := p.Apply(w.pod)
	if err != nil {
		w.t.Fatal(err)
	}
	w.pod = pod
}

// release is what the owner of the hooks does at last, and the kubelet.
func (w *world) release() {
	w.complete = true
	if w.lifecycle == nil {
		return
	}
	switch lifecycle.StateOf(w.pod) {
	case preparingDelete:
		w.take(w.lifecycle.PreDelete)
	case preparingUpdate:
		w.take(w.lifecycle.InPlaceUpdate)
	case updated:
		w.put(w.lifecycle.InPlaceUpdate)
	case preparingNormal:
		w.put(w.lifecycle.PreNormal)
	}
}

func (w *world) take(h *v1alpha1.LifecycleHook) {
	if h == nil {
		return
	}
	for l := range h.LabelsHandler {
		delete(w.pod.Labels, l)
	}
	w.pod.Finalizers = slices.DeleteFunc(w.pod.Finalizers, func(f string) bool { return slices.Contains(h.FinalizersHandler, f) })
}

func (w *world) put(h *v1alpha1.LifecycleHook) {
	if h == nil {
		return
	}
	for l, v := range h.LabelsHandler {
		w.pod.Labels[l] = v
	}
	w.take(&v1alpha1.LifecycleHook{FinalizersHandler: h.FinalizersHandler})
	w.pod.Finalizers = append(w.pod.Finalizers, h.FinalizersHandler...)
}

// Whatever happened before: when hooks are released, the pod reaches Normal at
// its target, in service as far as this package goes, or is deleted. And on no
// way there does a hook fail to hold.
func TestReachesTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		together := rapid.Bool().Draw(t, "several steps in a patch")
		for range rapid.IntRange(0, 8).Draw(t, "turmoil") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				w.lifecycle = anyLifecycle(t)
			case 1:
				w.atTarget = false
			case 2:
				w.put(anyHook(t, "put"))
			case 3:
				w.take(anyHook(t, "take"))
			case 4:
				w.complete = true
			}
			w.pass(false, together)
			if w.deleted {
				return
			}
		}

		wantDelete := rapid.Bool().Draw(t, "delete")
		for range 8 {
			w.release()
			w.pass(wantDelete, together)
			if w.deleted {
				return
			}
		}
		if state := lifecycle.StateOf(w.pod); wantDelete || state != normal && state != "" || !w.atTarget {
			t.Fatalf("after 8 passes: state %q, at target %v, deletion wanted %v", state, w.atTarget, wantDelete)
		}
		for _, key := range readiness.Keys(w.pod) {
			if key.UserAgent == "Lifecycle" {
				t.Fatalf("LC-E11: the pod is kept out of service by %v", key)
			}
		}
	})
}

// A step that was taken is not taken again.
func TestIdempotent(t *testing.T) {
	steps := map[string]func(*world, *podpatch.Patch){
		"Refresh":      func(w *world, p *podpatch.Patch) { w.refresh(p) },
		"BeginDelete":  func(w *world, p *podpatch.Patch) { lifecycle.BeginDelete(p, w.pod, w.lifecycle, now) },
		"CancelDelete": func(w *world, p *podpatch.Patch) { lifecycle.CancelDelete(p, w.pod, w.lifecycle, now) },
		"BeginUpdate": func(w *world, p *podpatch.Patch) {
			if step, _ := lifecycle.BeginUpdate(p, w.pod, w.lifecycle, w.atTarget, now); step == lifecycle.UpdateStart {
				w.atTarget = true // as the update itself does
			}
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := anyWorld(t)
				var first, second podpatch.Patch
				step(w, &first)
				w.apply(&first)
				step(w, &second)
				writes, err := second.Writes(w.pod)
				if err != nil {
					t.Fatal(err)
				}
				// An armed hook without labels and finalizers holds nothing:
				// then the second call starts the update, which is a new step.
				if len(writes) > 0 && !(name == "BeginUpdate" && w.atTarget) {
					t.Fatalf("the second call writes %s", writes[0].Data)
				}
			})
		})
	}
}
