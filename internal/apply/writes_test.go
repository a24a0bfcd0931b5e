// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Finalizers are written on the workload as it was observed: those that others add meanwhile stay.
func TestWriteFinalizers(t *testing.T) {
	change := func(s *fixture) {
		s.must(s.user.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(setPath + "/web").
			Body([]byte(`{"metadata":{"finalizers":["example.com/other"]}}`)).Do(s.t.Context()).Error())
	}
	for _, test := range []struct {
		name   string
		set    func(*fixture)
		write  []string
		want   []string
		gone   bool
		fails  bool
		events []string
	}{
		{"they are set", func(*fixture) {}, []string{"example.com/own"}, []string{"example.com/own"}, false, false, nil},
		{"they are taken away", func(s *fixture) {
			change(s)
			s.must(s.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(s.t.Context()).Into(s.set))
			s.Sync = s.Begin(s.set)
		}, nil, nil, false, false, nil},
		{"others have added theirs", change, []string{"example.com/own"}, []string{"example.com/other"}, false, true, nil},
		{"CT-11: they are refused", func(s *fixture) { s.fail("patch statefulsets", errQuota) }, []string{"example.com/own"}, nil, false, true,
			[]string{"Warning FailedUpdate: write the finalizers of shop/web: " + errQuota.Error()}},
		{"the workload is gone", func(s *fixture) {
			s.must(s.user.CoreV1().RESTClient().Delete().AbsPath(setPath + "/web").Do(s.t.Context()).Error())
		}, []string{"example.com/own"}, nil, true, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			test.set(s)
			err := s.WriteFinalizers(t.Context(), test.write)
			if (err != nil) != test.fails || s.Gone != test.gone || !slices.Equal(s.events.events, test.events) {
				t.Errorf("error %v, gone %t, events %q", err, s.Gone, s.events.events)
			}
			if waits := s.waitsFor() != ""; waits == (test.fails || test.gone) {
				t.Errorf("the next reconcile waits for %q", s.waitsFor())
			}
			var set v1beta1.StatefulSet
			if err := s.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(t.Context()).Into(&set); err == nil && !slices.Equal(set.Finalizers, test.want) {
				t.Errorf("finalizers %q, want %q", set.Finalizers, test.want)
			}
		})
	}
}

// A write of one pod is remembered if it was made. It is looked for if the answer was lost. It is no error if the pod is gone.
func TestWritePod(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*fixture)
		want outcome
	}{
		{"a write", nil, outcome{Waits: true}},
		{"a pod that is gone", func(s *fixture) { s.remove("web-0") }, outcome{}},
		{"a pod that has been replaced", func(s *fixture) { s.remove("web-0"); s.existing("web-0") }, outcome{}},
		{"it is refused", func(s *fixture) { s.fail("patch pods", errQuota) }, outcome{Err: "the mark of pod web-0: " + errQuota.Error()}},
		{"the answer is lost", func(s *fixture) { s.fail("patch pods", errLost) }, outcome{Err: "the mark of pod web-0: " + errLost.Error(), Lost: []string{"pods web-0"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			pod := s.existing("web-0")[0]
			writes, err := label("a", "b").Writes(pod)
			s.must(err)
			if test.set != nil {
				test.set(s)
			}
			test.want.Requests = []string{"patch pods web-0"}
			got := s.outcome(s.WritePod(t.Context(), pod, writes[0], "the mark"))
			if got.Err != "" && test.want.Lost != nil { // client-go says which request it was
				got.Err = "the mark of pod web-0: " + errLost.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
	if err := newFixture(t).WritePod(t.Context(), pod("web-0"), podpatch.Write{Data: []byte("no patch")}, "the mark"); err == nil {
		t.Error("what is no patch was sent")
	}
}

// A name that is taken is no reason to stop if names are generated: the next pod has another one.
func TestNamesThatAreTaken(t *testing.T) {
	for generated, want := range map[bool]int{true: 8, false: 2} {
		s := newFixture(t)
		s.GeneratedNames = generated
		s.fail("create pods", apierrors.NewAlreadyExists(corev1.Resource("pods"), "taken"))
		creations := make([]rollout.PodCreation, 8)
		for i := range creations {
			creations[i].Pod = pod(fmt.Sprint("web-", i))
		}
		err := s.createPods(creations...)
		if len(s.requests()) != want || len(Separate(err)) != want || !NameTaken(Separate(err)[0]) {
			t.Errorf("generated %t: %d requests, error %v; want %d", generated, len(s.requests()), err, want)
		}
	}
}

// Owners that go are deleted from a claim by their UID, so that those that others add meanwhile stay. (CS-24)
func TestChangeClaim(t *testing.T) {
	s := newFixture(t)
	s.existingClaim("data", func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{owner("goes"), owner("stays")}
	})
	claims := s.user.CoreV1().PersistentVolumeClaims("shop")
	observed, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	s.must(err)
	_, err = claims.Patch(t.Context(), "data", types.StrategicMergePatchType,
		[]byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"others"}]}}`), metav1.PatchOptions{})
	s.must(err)
	s.must(s.ChangeClaim(t.Context(), rollout.ClaimPatch{Claim: observed, Owners: []metav1.OwnerReference{owner("stays"), owner("comes")}}))
	now, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	s.must(err)
	var owners []string
	for _, o := range now.OwnerReferences {
		owners = append(owners, string(o.UID))
	}
	slices.Sort(owners)
	if diff := cmp.Diff([]string{"comes", "others", "stays"}, owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}

// What an API server answers to a resize tells whether the pod can be resized at all, and whether its update was begun. (IP-39)
func TestResizeFailures(t *testing.T) {
	cause := func(of metav1.CauseType) error {
		err := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("injected"))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: of}}
		return err
	}
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("changed"))
	for _, test := range []struct {
		name        string
		err         error
		begins      bool // a write of the update comes first
		gone        bool
		resize      bool // it is a failure of the resize
		unsupported bool
	}{
		{"IP-39: forbidden, which may pass", errQuota, false, false, true, false},
		{"IP-39: and the update has begun", errQuota, true, false, true, false},
		{"IP-39: the node is too small", cause(nodeTooSmall), false, false, true, true},
		{"IP-39: the node cannot do it", cause(notOnPlatform), false, false, true, true},
		{"IP-39: invalid", apierrors.NewInvalid(v1beta1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "web-0", nil), false, false, true, true},
		{"IP-39: the API server does not serve it", apierrors.NewNotFound(corev1.Resource("pods"), "web-0"), false, false, true, true},
		{"the pod is gone", apierrors.NewNotFound(corev1.Resource("pods"), "web-0"), false, true, false, false},
		{"a conflict", conflict, false, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			pod := s.existing("web-0")[0]
			patch := rollout.PodPatch{Pod: pod, Patch: resized(), Kind: rollout.PatchUpdateInPlace}
			if test.begins {
				patch.Patch.SetCondition(corev1.PodCondition{Type: "A", Status: "False"})
			}
			if test.gone {
				s.remove("web-0")
			}
			s.FailBefore(func(r fakecluster.Request) error {
				if r.User == "controller" && strings.HasSuffix(r.String(), "/resize") {
					return test.err
				}
				return nil
			})
			err := s.PatchPod(t.Context(), &patch)
			var resize *rollout.ResizeError
			if is := errors.As(err, &resize); is != test.resize || is && (resize.Unsupported != test.unsupported || resize.Begun != test.begins) {
				t.Errorf("error %v (%+v)", err, resize)
			}
			left := asLeft(&patch, err)
			if begun := len(left.Status.Conditions) > len(pod.Status.Conditions); begun != test.begins {
				t.Errorf("the pod is left as %v", left.Status.Conditions)
			}
		})
	}
}

// resized is a patch that resizes a container.
func resized() *podpatch.Patch {
	p := &podpatch.Patch{}
	p.SetResources("main", corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}})
	return p
}
