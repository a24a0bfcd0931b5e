// SPDX-License-Identifier: Apache-2.0

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

// podModel is one pod with all that acts on it: the workload (by way of this
// package), the owner of the hooks, and the kubelet.
type podModel struct {
	t         *rapid.T
	pod       *corev1.Pod
	lifecycle *v1alpha1.Lifecycle
	atTarget  bool // the pod has the update revision
	complete  bool // the in-place update is complete
	deleted   bool
}

func anyPodModel(t *rapid.T) *podModel {
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
	return &podModel{
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

func (m *podModel) refresh(p *podpatch.Patch) bool {
	return lifecycle.Refresh(p, m.pod, m.lifecycle, lifecycle.RefreshInput{AtTarget: m.atTarget, InPlaceComplete: m.complete}, now)
}

// reconcile is one reconcile of the pod by its workload. together lets it put more
// than one step into the patch.
func (m *podModel) reconcile(wantDelete, together bool) {
	var p podpatch.Patch
	switch {
	case wantDelete || lifecycle.StateOf(m.pod) == preparingDelete:
		held := m.lifecycle != nil && lifecycle.HookedAny(m.lifecycle.PreDelete, m.pod)
		m.deleted, _ = lifecycle.BeginDelete(&p, m.pod, m.lifecycle, now)
		if m.deleted == held {
			m.t.Fatalf("LC-13: delete now is %v for a pod that preDelete holds: %v", m.deleted, held)
		}
	case m.refresh(&p) && !together:
	case !m.atTarget:
		m.update(&p)
	}
	m.apply(&p)
}

func (m *podModel) update(p *podpatch.Patch) {
	held := m.lifecycle != nil && lifecycle.HookedAny(m.lifecycle.InPlaceUpdate, m.pod)
	running := lifecycle.StateOf(m.pod) == updating && p.Labels[v1alpha1.StateLabel] == nil
	step, reason := lifecycle.BeginUpdate(p, m.pod, m.lifecycle, m.atTarget, now)
	if (step == lifecycle.UpdateStart) != (reason == "") {
		m.t.Fatalf("step %v has the reason %q", step, reason)
	}
	if step != lifecycle.UpdateStart {
		return
	}
	if held && !running {
		m.t.Fatal("LC-3: the update starts while the hook holds the pod")
	}
	m.atTarget, m.complete = true, false
}

func (m *podModel) apply(p *podpatch.Patch) {
	pod, err := p.Apply(m.pod)
	if err != nil {
		m.t.Fatal(err)
	}
	m.pod = pod
}

// release is what the owner of the hooks does at last, and the kubelet.
func (m *podModel) release() {
	m.complete = true
	if m.lifecycle == nil {
		return
	}
	switch lifecycle.StateOf(m.pod) {
	case preparingDelete:
		m.take(m.lifecycle.PreDelete)
	case preparingUpdate:
		m.take(m.lifecycle.InPlaceUpdate)
	case updated:
		m.put(m.lifecycle.InPlaceUpdate)
	case preparingNormal:
		m.put(m.lifecycle.PreNormal)
	}
}

func (m *podModel) take(h *v1alpha1.LifecycleHook) {
	if h == nil {
		return
	}
	for l := range h.LabelsHandler {
		delete(m.pod.Labels, l)
	}
	m.pod.Finalizers = slices.DeleteFunc(m.pod.Finalizers, func(f string) bool { return slices.Contains(h.FinalizersHandler, f) })
}

func (m *podModel) put(h *v1alpha1.LifecycleHook) {
	if h == nil {
		return
	}
	for l, v := range h.LabelsHandler {
		m.pod.Labels[l] = v
	}
	m.take(&v1alpha1.LifecycleHook{FinalizersHandler: h.FinalizersHandler})
	m.pod.Finalizers = append(m.pod.Finalizers, h.FinalizersHandler...)
}

// Whatever happened before: when hooks are released, the pod reaches Normal at
// its target, in service as far as this package goes, or is deleted. And on no
// way there does a hook fail to hold.
func TestReachesTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyPodModel(t)
		together := rapid.Bool().Draw(t, "several steps in a patch")
		for range rapid.IntRange(0, 8).Draw(t, "turmoil") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				m.lifecycle = anyLifecycle(t)
			case 1:
				m.atTarget = false
			case 2:
				m.put(anyHook(t, "put"))
			case 3:
				m.take(anyHook(t, "take"))
			case 4:
				m.complete = true
			}
			m.reconcile(false, together)
			if m.deleted {
				return
			}
		}

		wantDelete := rapid.Bool().Draw(t, "delete")
		for range 8 {
			m.release()
			m.reconcile(wantDelete, together)
			if m.deleted {
				return
			}
		}
		if state := lifecycle.StateOf(m.pod); wantDelete || state != normal && state != "" || !m.atTarget {
			t.Fatalf("after 8 reconciles: state %q, at target %v, deletion wanted %v", state, m.atTarget, wantDelete)
		}
		for _, key := range readiness.Keys(m.pod) {
			if key.UserAgent == "Lifecycle" {
				t.Fatalf("LC-E11: the pod is kept out of service by %v", key)
			}
		}
	})
}

// A step that was taken is not taken again.
func TestIdempotent(t *testing.T) {
	steps := map[string]func(*podModel, *podpatch.Patch){
		"Refresh":      func(m *podModel, p *podpatch.Patch) { m.refresh(p) },
		"BeginDelete":  func(m *podModel, p *podpatch.Patch) { lifecycle.BeginDelete(p, m.pod, m.lifecycle, now) },
		"CancelDelete": func(m *podModel, p *podpatch.Patch) { lifecycle.CancelDelete(p, m.pod, m.lifecycle, now) },
		"BeginUpdate": func(m *podModel, p *podpatch.Patch) {
			if step, _ := lifecycle.BeginUpdate(p, m.pod, m.lifecycle, m.atTarget, now); step == lifecycle.UpdateStart {
				m.atTarget = true // as the update itself does
			}
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := anyPodModel(t)
				var first, second podpatch.Patch
				step(m, &first)
				m.apply(&first)
				step(m, &second)
				writes, err := second.Writes(m.pod)
				if err != nil {
					t.Fatal(err)
				}
				// An armed hook without labels and finalizers holds nothing:
				// then the second call starts the update, which is a new step.
				if len(writes) > 0 && !(name == "BeginUpdate" && m.atTarget) {
					t.Fatalf("the second call writes %s", writes[0].Data)
				}
			})
		})
	}
}
