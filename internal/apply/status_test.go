// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestStatusPatch(t *testing.T) {
	type status struct {
		Replicas       int32             `json:"replicas"`
		Revision       string            `json:"revision,omitempty"`
		CollisionCount *int32            `json:"collisionCount,omitempty"`
		Images         map[string]string `json:"images,omitempty"`
	}
	for _, test := range []struct {
		name          string
		before, after status
		want          string
	}{
		{"all of it, whatever stands", status{3, "a", nil, nil}, status{3, "b", nil, nil}, `{"replicas":3,"revision":"b"}`},
		{"numbers that must be there, on a new object", status{}, status{}, `{"replicas":0}`},
		{"what is no longer there is removed", status{3, "a", ptr.To[int32](1), nil}, status{}, `{"collisionCount":null,"replicas":0,"revision":null}`},
		{"inside of what stays too", status{Images: map[string]string{"a": "1", "b": "2"}}, status{Images: map[string]string{"a": "3"}}, `{"images":{"a":"3","b":null},"replicas":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := StatusPatch(Observed{UID: "u", ResourceVersion: "7"}, test.before, &test.after)
			want := `{"metadata":{"uid":"u","resourceVersion":"7"},"status":` + test.want + `}`
			if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v, patch (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, bad := range []any{func() {}, "text", json.RawMessage("{")} {
		if _, err := StatusPatch(Observed{}, bad, bad); err == nil {
			t.Errorf("no error for a status that is %T", bad)
		}
	}
}

func TestWriteStatus(t *testing.T) {
	after := func(s *fixture) *v1beta1.StatefulSetStatus {
		status := s.set.Status.DeepCopy()
		status.CurrentRevision, status.ReadyReplicas = "", 2
		status.Conditions = []appsv1.StatefulSetCondition{{Type: "FailedCreatePod", Status: "True"}}
		return status
	}
	stored := func(s *fixture) (set v1beta1.StatefulSet) {
		s.must(s.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(s.t.Context()).Into(&set))
		return set
	}
	t.Run("it replaces the whole status", func(t *testing.T) {
		s := newFixture(t)
		s.must(s.WriteStatus(t.Context(), &s.set.Status, after(s)))
		set := stored(s)
		if diff := cmp.Diff(*after(s), set.Status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if s.Version != set.ResourceVersion || !s.WroteStatus(s.Key, set.ResourceVersion, &set.Status) || s.waitsFor() != "statefulsets at "+set.ResourceVersion {
			t.Errorf("it takes version %s for the last own write, that is %s, and waits for %s", s.Version, set.ResourceVersion, s.waitsFor())
		}
		if !s.WroteStatus(s.Key, "an event that comes before the answer", &set.Status) || s.WroteStatus(s.Key, "another", &v1beta1.StatefulSetStatus{Replicas: 99}) {
			t.Error("a status is not known by what it says")
		}
		s.Forget(s.Key)
		if s.WroteStatus(s.Key, set.ResourceVersion, &set.Status) || s.waitsFor() != "" {
			t.Error("a workload that is gone is not forgotten")
		}
	})
	t.Run("CT-12: each workload of a name has its own, at once", func(t *testing.T) {
		s := newFixture(t)
		for range 4 {
			s.must(s.WriteStatus(t.Context(), &s.set.Status, after(s)))
			s.must(s.user.CoreV1().RESTClient().Delete().AbsPath(setPath + "/web").Do(t.Context()).Error())
			s.must(s.user.CoreV1().RESTClient().Post().AbsPath(setPath).Body(&v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}).Do(t.Context()).Error())
			s.Sync = s.Begin(new(stored(s)))
		}
		if n := s.Count("controller")["patch statefulsets/status"]; n != 4 {
			t.Errorf("%d writes, want 4", n)
		}
	})
	t.Run("not over a workload that has changed", func(t *testing.T) {
		s := newFixture(t)
		s.must(s.user.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(setPath + "/web").
			Body([]byte(`{"metadata":{"labels":{"a":"b"}}}`)).Do(t.Context()).Error())
		if err := s.WriteStatus(t.Context(), &s.set.Status, after(s)); !apierrors.IsConflict(err) {
			t.Errorf("error %v, want a conflict", err)
		}
		if got := stored(s); got.Status.ReadyReplicas != 0 {
			t.Errorf("status %+v", got.Status)
		}
	})
	t.Run("what a CRD without its fields has dropped is not written again", func(t *testing.T) {
		s := newFixture(t)
		writes := func() int { return s.Count("controller")["patch statefulsets/status"] }
		s.must(s.WriteStatus(t.Context(), &s.set.Status, after(s)))
		unchanged := s.Begin(&v1beta1.StatefulSet{ObjectMeta: stored(s).ObjectMeta, Status: s.set.Status})
		s.must(unchanged.WriteStatus(t.Context(), &s.set.Status, after(s)))
		if writes() != 1 {
			t.Errorf("%d writes, want 1", writes())
		}
		s.must(unchanged.rewriteStatus(t.Context(), after(s)))
		if writes() != 2 {
			t.Errorf("%d writes, want 2: one asks whether the workload is still there", writes())
		}
		other := after(s)
		other.ReadyReplicas = 1
		s.must(unchanged.WriteStatus(t.Context(), after(s), other))
		if set := stored(s); set.Status.ReadyReplicas != 1 {
			t.Errorf("status %+v, want another one", set.Status)
		}
		s.must(s.user.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(setPath + "/web/status").
			Body([]byte(`{"status":{"readyReplicas":7}}`)).Do(t.Context()).Error())
		s.must(s.Begin(new(stored(s))).WriteStatus(t.Context(), &s.set.Status, other))
		if set := stored(s); set.Status.ReadyReplicas != 1 {
			t.Errorf("status %+v, want that of before somebody else wrote it", set.Status)
		}
	})
	t.Run("what was never answered is written", func(t *testing.T) {
		s := newFixture(t)
		s.FailBefore(func(fakecluster.Request) error { return errLost })
		if err := s.WriteStatus(t.Context(), &s.set.Status, after(s)); err == nil {
			t.Error("no error")
		}
		s.FailBefore(nil)
		s.must(s.WriteStatus(t.Context(), &s.set.Status, after(s)))
		if set := stored(s); set.Status.ReadyReplicas != 2 {
			t.Errorf("status %+v: what was never written is taken for written", set.Status)
		}
	})
	t.Run("a workload that is gone is no error", func(t *testing.T) {
		s := newFixture(t)
		s.must(s.user.CoreV1().RESTClient().Delete().AbsPath(setPath + "/web").Do(t.Context()).Error())
		if err := s.WriteStatus(t.Context(), &s.set.Status, after(s)); err != nil || s.waitsFor() != "" {
			t.Errorf("error %v, the next reconcile waits for %q", err, s.waitsFor())
		}
		r := s.stored(history("web-1", "nginx:1")) // pods that it left behind may come from it
		s.must(s.DeleteRevisions(t.Context(), []*appsv1.ControllerRevision{r}))
		_, err := s.user.AppsV1().ControllerRevisions("shop").Get(t.Context(), r.Name, metav1.GetOptions{})
		s.must(err)
	})
}

func TestIsLate(t *testing.T) {
	for _, test := range []struct {
		observed, generation int64
		want                 bool
	}{{0, 0, false}, {0, 1, false}, {1, 1, false}, {1, 2, true}, {3, 2, true}} {
		if got := IsLate(test.observed, &metav1.ObjectMeta{Generation: test.generation}); got != test.want {
			t.Errorf("generation %d, and %d is said: late %t", test.generation, test.observed, got)
		}
	}
}
