// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// outcome is what a step did.
type outcome struct {
	Requests, Events []string
	Err              string
	Waits            bool // for the cache to show a write
	Lost             []string
}

// second is the error of two results.
func second(_ bool, err error) error { return err }

func (s *fixture) outcome(err error) outcome {
	o := outcome{Requests: s.requests(), Events: s.events.events, Waits: s.waitsFor() != "", Lost: s.lost()}
	if err != nil {
		o.Err = err.Error()
	}
	return o
}

func TestCreatePods(t *testing.T) {
	web := func(claims ...string) rollout.PodCreation {
		c := rollout.PodCreation{Pod: pod("web-0")}
		for _, name := range claims {
			c.Claims = append(c.Claims, claim(name))
		}
		return c
	}
	controlled := func(c rollout.PodCreation) rollout.PodCreation {
		controller := true
		c.Claims[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Set", Name: "web", UID: "uid", Controller: &controller}}
		return c
	}
	quota := `pods is forbidden: exceeded quota`
	for _, test := range []struct {
		name     string
		set      func(*fixture)
		creation rollout.PodCreation
		want     outcome
	}{
		{"a pod", nil, web(), outcome{Requests: []string{"create pods"}, Waits: true,
			Events: []string{"Normal SuccessfulCreate: created pod web-0"}}},
		{"its claims first", func(s *fixture) { s.fail("create pods", errQuota) }, web("data-web-0"), outcome{
			Requests: []string{"create persistentvolumeclaims", "create pods"}, Waits: true,
			Events: []string{"Normal SuccessfulCreate: created claim data-web-0", "Warning FailedCreate: create pod web-0: " + quota},
			Err:    "create pod web-0: " + quota}},
		{"a claim that exists is looked at, and used", func(s *fixture) {
			_, err := s.user.CoreV1().PersistentVolumeClaims("shop").Create(s.t.Context(), claim("data-web-0"), metav1.CreateOptions{})
			s.must(err)
		}, web("data-web-0"), outcome{Requests: []string{"create persistentvolumeclaims", "create pods", "get persistentvolumeclaims data-web-0"}, Waits: true,
			Events: []string{"Normal SuccessfulCreate: created pod web-0"}}},
		{"a claim that is being deleted is not used", func(s *fixture) {
			s.existingClaim("data-web-0", func(c *corev1.PersistentVolumeClaim) { c.Finalizers = []string{"example.com/protection"} })
			s.must(s.user.CoreV1().PersistentVolumeClaims("shop").Delete(s.t.Context(), "data-web-0", metav1.DeleteOptions{}))
		}, web("data-web-0"), outcome{Requests: []string{"create persistentvolumeclaims", "get persistentvolumeclaims data-web-0"},
			Err: "create claim data-web-0: the claim of that name is still being deleted"}},
		{"a claim of somebody else is not used", func(s *fixture) {
			s.existingClaim("data-web-0", nil)
		}, controlled(web("data-web-0")), outcome{Requests: []string{"create persistentvolumeclaims", "get persistentvolumeclaims data-web-0"},
			Err: "create claim data-web-0: a claim of that name exists, which another controller has or none"}},
		{"no pod without its claim", func(s *fixture) { s.fail("create persistentvolumeclaims", errQuota) }, web("data-web-0"), outcome{
			Requests: []string{"create persistentvolumeclaims"},
			Events:   []string{"Warning FailedCreate: create claim data-web-0: " + quota}, Err: "create claim data-web-0: " + quota}},
		{"a pod that exists may be an own one", func(s *fixture) { s.existing("web-0") }, web(), outcome{Requests: []string{"create pods"},
			Events: []string{`Warning FailedCreate: create pod web-0: pods "web-0" already exists`},
			Err:    `create pod web-0: pods "web-0" already exists`, Lost: []string{"pods web-0"}}},
		{"an answer that says that nothing was made", func(s *fixture) { s.fail("create pods", errQuota) }, web(), outcome{Requests: []string{"create pods"},
			Events: []string{"Warning FailedCreate: create pod web-0: " + quota}, Err: "create pod web-0: " + quota}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			if test.set != nil {
				test.set(s)
			}
			got := s.outcome(s.createPods(test.creation))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// A write that has no answer, or that the server did not end, may have been made.
func TestLostAnswers(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*fixture) error
		want []string
	}{
		{"create pods", func(s *fixture) error {
			return s.createPods(rollout.PodCreation{Pod: pod("web-0")})
		}, []string{"pods web-0"}},
		{"create persistentvolumeclaims", func(s *fixture) error {
			return s.createPods(rollout.PodCreation{Pod: pod("web-0"), Claims: []*corev1.PersistentVolumeClaim{claim("data")}})
		}, []string{"persistentvolumeclaims data"}},
		{"delete pods", func(s *fixture) error { return second(s.DeletePod(s.t.Context(), pod("web-0"), Delete)) }, []string{"pods web-0"}},
		{"patch persistentvolumeclaims", func(s *fixture) error { return s.PatchClaim(s.t.Context(), claim("data"), []byte("{}")) },
			[]string{"persistentvolumeclaims data"}},
		{"patch pods", func(s *fixture) error {
			return s.PatchPods(s.t.Context(), []rollout.PodPatch{{Pod: pod("web-0"), Patch: label("a", "b")}})
		}, []string{"pods web-0"}},
	} {
		for _, failure := range []error{errLost, errInternal} {
			t.Run(fmt.Sprint(test.name, ": ", failure), func(t *testing.T) {
				s := newFixture(t)
				s.fail(test.name, failure)
				if err := test.do(s); err == nil || !strings.Contains(err.Error(), failure.Error()) {
					t.Errorf("error %v, want %v", err, failure)
				}
				if diff := cmp.Diff(test.want, s.lost()); diff != "" {
					t.Errorf("writes that are looked for (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestCreationSlowsDown(t *testing.T) {
	for _, test := range []struct {
		name      string
		generated bool
		requests  int
	}{
		{"a generated name is not the reason", true, 1},
		{"a name may be the reason, so another one is tried", false, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			s.GeneratedNames = test.generated
			creations := make([]rollout.PodCreation, 100)
			for i := range creations {
				creations[i].Pod = pod(fmt.Sprintf("web-%d", i))
			}
			s.fail("create pods", errQuota)
			if err := s.createPods(creations...); !apierrors.IsForbidden(Separate(err)[0]) || len(s.requests()) != test.requests {
				t.Errorf("%d requests, error %v: want %d that fail", len(s.requests()), err, test.requests)
			}
			s.FailBefore(nil)
			if err := s.createPods(creations...); err != nil {
				t.Error(err)
			}
			if recorded := len(s.events.events); recorded != test.requests+eventsPerReason {
				t.Errorf("%d events of %d failures and 100 successes, want 25 of these", recorded, test.requests)
			}
		})
	}
}

func TestDeletePod(t *testing.T) {
	for _, test := range []struct {
		name   string
		set    func(*fixture)
		action Action
		want   outcome
	}{
		{"a deletion", nil, Delete, outcome{Waits: true, Events: []string{"Normal SuccessfulDelete: deleted pod web-0"}}},
		{"a deletion for an update", nil, Recreate, outcome{Waits: true, Events: []string{"Normal SuccessfulUpdatePodReCreate: deleted pod web-0"}}},
		{"a pod that is gone", func(s *fixture) { s.remove("web-0") }, Delete, outcome{}},
		{"a pod that has been replaced stays", func(s *fixture) { s.remove("web-0"); s.existing("web-0") }, Delete, outcome{}},
		{"a failure", func(s *fixture) { s.fail("delete pods", errQuota) }, Delete, outcome{
			Events: []string{"Warning FailedDelete: delete pod web-0: pods is forbidden: exceeded quota"},
			Err:    "delete pod web-0: pods is forbidden: exceeded quota"}},
		{"a failure for an update", func(s *fixture) { s.fail("delete pods", errQuota) }, Recreate, outcome{
			Events: []string{"Warning FailedUpdatePodReCreate: delete pod web-0: pods is forbidden: exceeded quota"},
			Err:    "delete pod web-0: pods is forbidden: exceeded quota"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			pods := s.existing("web-0")
			if test.set != nil {
				test.set(s)
			}
			test.want.Requests = []string{"delete pods web-0"}
			if diff := cmp.Diff(test.want, s.outcome(second(s.DeletePod(t.Context(), pods[0], test.action)))); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func label(key, value string) *podpatch.Patch {
	p := &podpatch.Patch{}
	p.SetLabel(key, value)
	return p
}

func TestPatchPods(t *testing.T) {
	twoWrites := label("a", "b")
	twoWrites.SetCondition(corev1.PodCondition{Type: "A", Status: "False"})
	twoWrites.SetImage("main", "nginx:2")
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("changed"))
	for _, test := range []struct {
		name  string
		kind  rollout.PatchKind
		patch *podpatch.Patch
		set   func(*fixture)
		want  outcome
	}{
		{"a patch that is not recorded", rollout.PatchRefresh, label("a", "b"), nil, outcome{Requests: []string{"patch pods web-0"}, Waits: true}},
		{"a patch that is recorded once", rollout.PatchUpdateInPlace, twoWrites, nil, outcome{
			Requests: []string{"patch pods web-0", "patch pods/status web-0"}, Waits: true,
			Events: []string{"Normal SuccessfulUpdatePodInPlace: started to update pod web-0 in place"}}},
		{"another one that is recorded", rollout.PatchCancelDelete, label("a", "b"), nil, outcome{Requests: []string{"patch pods web-0"}, Waits: true,
			Events: []string{"Normal SuccessfulUpdate: updated pod web-0"}}},
		{"what stands costs nothing", rollout.PatchRefresh, &podpatch.Patch{}, nil, outcome{}},
		{"a pod that is gone", rollout.PatchUpdateInPlace, twoWrites, func(s *fixture) { s.remove("web-0") },
			outcome{Requests: []string{"patch pods/status web-0"}}},
		{"a pod that has been replaced", rollout.PatchUpdateInPlace, twoWrites, func(s *fixture) { s.remove("web-0"); s.existing("web-0") },
			outcome{Requests: []string{"patch pods/status web-0"}}},
		{"the second write waits for the first", rollout.PatchUpdateInPlace, twoWrites, func(s *fixture) { s.fail("patch pods/status", errQuota) }, outcome{
			Requests: []string{"patch pods/status web-0"},
			Events:   []string{"Warning FailedUpdatePodInPlace: update pod web-0 in place: pods is forbidden: exceeded quota"},
			Err:      "patch pod web-0 (UpdateInPlace): pods is forbidden: exceeded quota"}},
		{"a conflict is not recorded", rollout.PatchUpdateInPlace, label("a", "b"), func(s *fixture) { s.fail("patch pods", conflict) }, outcome{
			Requests: []string{"patch pods web-0"}, Err: "patch pod web-0 (UpdateInPlace): " + conflict.Error()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			s.Records = map[rollout.PatchKind]Action{rollout.PatchUpdateInPlace: UpdateInPlace, rollout.PatchCancelDelete: Update}
			patches := []rollout.PodPatch{{Pod: s.existing("web-0")[0], Patch: test.patch, Kind: test.kind}}
			if test.set != nil {
				test.set(s)
			}
			if diff := cmp.Diff(test.want, s.outcome(s.PatchPods(t.Context(), patches))); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// A patch may say that its second write holds while what the patch follows from does not change. Then whatever else is reported
// of the pod does not matter. (IP-33)
func TestPatchesThatHoldThroughout(t *testing.T) {
	ready := func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: "False", Reason: pod.ResourceVersion})
	}
	const get, status, spec = "get pods web-0", "patch pods/status web-0", "patch pods web-0"
	for _, test := range []struct {
		name     string
		change   func(*corev1.Pod)
		times    int
		want     []string
		conflict bool
	}{
		{"nothing changes", nil, 0, []string{spec, status}, false},
		{"the kubelet reports", ready, 1, []string{get, spec, spec, status}, false},
		{"it reports all the time", ready, 9, []string{get, get, get, spec, spec, spec, spec, status}, true},
		{"a container is restarted", func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "2"}}
		}, 1, []string{get, spec, status}, true},
		{"another one puts the pod back", func(pod *corev1.Pod) { pod.Status.Conditions = nil }, 1, []string{get, spec, status}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			patch := &podpatch.Patch{IfUnchanged: true, Throughout: true}
			patch.SetCondition(corev1.PodCondition{Type: "A", Status: "False"})
			patch.SetImage("main", "nginx:2")
			patches := []rollout.PodPatch{{Pod: s.existing("web-0")[0], Patch: patch, Kind: rollout.PatchUpdateInPlace}}
			times := test.times
			s.FailBefore(func(r fakecluster.Request) error {
				if r.User != "controller" || r.String() != "patch pods" || times == 0 {
					return nil
				}
				times--
				pod, err := s.user.CoreV1().Pods("shop").Get(t.Context(), "web-0", metav1.GetOptions{})
				s.must(err)
				test.change(pod)
				_, err = s.user.CoreV1().Pods("shop").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
				s.must(err)
				return nil
			})
			err := s.PatchPods(t.Context(), patches)
			if diff := cmp.Diff(test.want, s.requests()); diff != "" || apierrors.IsConflict(err) != test.conflict || err != nil && !test.conflict {
				t.Errorf("error %v, requests (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestOneFailureDoesNotStopTheOthers(t *testing.T) {
	s := newFixture(t)
	pods := s.existing("web-0", "web-1", "web-2", "web-3", "web-4")
	s.fail("delete pods web-2", errQuota)
	err := Each(t.Context(), pods, func(ctx context.Context, pod *corev1.Pod) error { return second(s.DeletePod(ctx, pod, Delete)) })
	if len(s.requests()) != 5 || len(Separate(err)) != 1 || !strings.Contains(err.Error(), "web-2") {
		t.Errorf("requests %q, error %v", s.requests(), err)
	}
}

func TestMessages(t *testing.T) {
	s := newFixture(t)
	s.Message = func(o Outcome) string {
		if o.Claim != "" {
			return fmt.Sprintf("%s Claim %s Pod %s in StatefulSet %s: %v", o.Action, o.Claim, o.Pod, o.Workload, o.Err)
		}
		return fmt.Sprintf("%s Pod %s in StatefulSet %s: %v, 100%%", o.Action, o.Pod, o.Workload, o.Err)
	}
	creation := rollout.PodCreation{Pod: pod("web-0"), Claims: []*corev1.PersistentVolumeClaim{claim("data-web-0")}}
	s.must(s.createPods(creation))
	want := []string{
		"Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web: <nil>",
		"Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web: <nil>, 100%",
	}
	if diff := cmp.Diff(want, s.events.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.Recorder = nil
	s.must(s.createPods(rollout.PodCreation{Pod: pod("web-1")}))
	if len(s.events.events) != 2 {
		t.Errorf("without a recorder, it records %q", s.events.events)
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name      string
		set       func(*fixture)
		shown     bool
		shownErr  error
		want      []string
		wantFound bool
		fails     bool
	}{
		{"it was made", func(s *fixture) { s.existing("web-0") }, false, nil, []string{"get pods web-0"}, true, false},
		{"it was not made, or is gone unseen", nil, false, nil, []string{"get pods web-0"}, false, false},
		{"it is gone, and the cache shows it", func(s *fixture) { s.existing("web-0"); s.remove("web-0") }, true, nil, []string{"get pods web-0", "list pods"}, true, false},
		{"nobody tells", func(s *fixture) { s.fail("get pods", errInternal) }, true, nil, []string{"get pods web-0"}, false, true},
		{"the cache does not tell", nil, true, errLost, []string{"get pods web-0"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			if test.set != nil {
				test.set(s)
			}
			version, gone, err := s.live().Find(t.Context(), "pods", "shop", "web-0", func() (bool, error) { return test.shown, test.shownErr })
			if (version != "") != test.wantFound || (err != nil) != test.fails || gone != (len(test.want) > 1) {
				t.Errorf("version %q, gone: %t, error %v", version, gone, err)
			}
			if diff := cmp.Diff(test.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a claim", func(t *testing.T) {
		s := newFixture(t)
		s.FailBefore(func(r fakecluster.Request) error {
			if r.Resource == "pods" {
				return errLost
			}
			return nil
		})
		if _, _, err := s.live().Find(t.Context(), "persistentvolumeclaims", "shop", "data", func() (bool, error) { return false, nil }); err != nil {
			t.Error(err)
		}
	})
}

// live reads what the fixture writes.
func (s *fixture) live() apiwriter.Registry {
	return apiwriter.Registry{caches.Pods: apiwriter.Pods(s.Kubernetes), caches.Claims: apiwriter.Claims(s.Kubernetes)}
}
