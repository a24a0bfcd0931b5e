// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestDeleteClaim: a claim goes in any state, but not if another manager
// has noted meanwhile that it reuses it. One that is gone is no error. (CS-24)
func TestDeleteClaim(t *testing.T) {
	for _, test := range []struct {
		name, change string
		gone         bool // before
		fail         error
		left         bool
		lost         []string // what is looked for before the next reconcile
		event        int
	}{
		{name: "CS-24: it is as it was observed"},
		{name: "CS-24: it has changed", change: `{"metadata":{"labels":{"bound":"true"}}}`},
		{name: "CS-24: another manager reuses it", change: `{"metadata":{"annotations":{"` + v1alpha1.CloneSetClaimReusedAnnotation + `":"later"}}}`, left: true},
		{name: "CS-24: it is gone", gone: true},
		{name: "it is refused", fail: fixture.ErrQuota, left: true, event: 1},
		{name: "the answer is lost", fail: fixture.ErrLost, left: true, lost: []string{"persistentvolumeclaims data-web-0"}, event: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(0, "")
				claims := c.Kube.CoreV1().PersistentVolumeClaims("default")
				observed, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}, metav1.CreateOptions{})
				c.Must(err)
				if test.change != "" {
					_, err = claims.Patch(t.Context(), observed.Name, types.MergePatchType, []byte(test.change), metav1.PatchOptions{})
					c.Must(err)
				}
				if test.gone {
					c.Must(claims.Delete(t.Context(), observed.Name, metav1.DeleteOptions{}))
				}
				if test.fail != nil {
					c.FailBefore(fixture.Fail("delete persistentvolumeclaims", test.fail))
				}
				a := controller.KindOf(c.Reconciler).Self.(*reconciler).begin(&Snapshot{Set: c.get()}, &Plan{})
				if err := a.deleteClaim(t.Context(), observed); (err != nil) != (test.fail != nil) {
					t.Errorf("error %v", err)
				}
				if _, err := claims.Get(t.Context(), observed.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) == test.left {
					t.Errorf("read after its deletion: %v, left: %t", err, test.left)
				}
				var lost []string
				c.Must(a.Own.Settle(a.Key, func(resource Resource, name string) (string, bool, error) {
					lost = append(lost, string(resource)+" "+name)
					return "", false, nil
				}))
				if diff := cmp.Diff(test.lost, lost); diff != "" {
					t.Errorf("what is looked for (-want +got):\n%s", diff)
				}
				if n := c.Events.Count("FailedDelete"); n != test.event {
					t.Errorf("%d events, want %d", n, test.event)
				}
			})
		})
	}
}

// CS-24: a claim that goes while its deletion is refused for another state of it is no error.
func TestDeleteClaimThatGoesMeanwhile(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(0, "")
		claims := c.Kube.CoreV1().PersistentVolumeClaims("default")
		observed, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}, metav1.CreateOptions{})
		c.Must(err)
		c.Must(claims.Delete(t.Context(), observed.Name, metav1.DeleteOptions{}))
		c.FailBefore(fixture.Fail("delete persistentvolumeclaims", apierrors.NewConflict(corev1.Resource("persistentvolumeclaims"), observed.Name, nil)))
		a := controller.KindOf(c.Reconciler).Self.(*reconciler).begin(&Snapshot{Set: c.get()}, &Plan{})
		if err := a.deleteClaim(t.Context(), observed); err != nil {
			t.Errorf("error %v", err)
		}
		c.FailBefore(fixture.Fail("", fixture.ErrInternal))
		if _, err := a.deleteUnlessReused(t.Context(), observed); err == nil {
			t.Error("no error, and the API server answers nothing")
		}
	})
}

// CS-24: a manager notes for two minutes which claims it reuses.
func TestNotesOfReuseEnd(t *testing.T) {
	r, begin := &reconciler{}, time.Unix(1000, 0)
	first := r.reusedBy(begin)
	for after, noted := range map[time.Duration]bool{0: true, late - 1: true, late: false, time.Hour: false} {
		if got := r.reusedBy(begin.Add(after)); (got == first) != noted || (got == "") == noted {
			t.Errorf("after %v: %q, at first %q", after, got, first)
		}
	}
}

// CS-18, CS-36: what becomes of claims whose pod is another owner's.
func TestClaimsWherePodsAreOfOthers(t *testing.T) {
	exists := apierrors.NewAlreadyExists(corev1.Resource("pods"), "web-a")
	for _, test := range []struct {
		name  string
		pod   string // there is: "", "own", "other", or "mounts" for another one that mounts the claim
		cause error
		owner [3]string // of the claim of the instance, of the same that terminates, of another instance
	}{
		{"the name is taken by an own pod", "own", exists, [3]string{"CloneSet", "CloneSet", "CloneSet"}},
		{"it is free again", "", exists, [3]string{"CloneSet", "CloneSet", "CloneSet"}},
		{"a claim is another owner's", "", fixture.ErrInternal, [3]string{"", "CloneSet", "CloneSet"}},
		{"the pod is another owner's", "other", exists, [3]string{"", "CloneSet", "CloneSet"}},
		{"the same, and it mounts the claim", "mounts", exists, [3]string{"Pod", "CloneSet", "CloneSet"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(0, "")
				set := c.get()
				claims := c.Kube.CoreV1().PersistentVolumeClaims("default")
				owner := *metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))
				var of []*corev1.PersistentVolumeClaim
				for i, id := range []string{"a", "a", "b"} {
					claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: []string{"data-web-a", "logs-web-a", "data-web-b"}[i],
						Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: id}, OwnerReferences: []metav1.OwnerReference{owner}}}
					created, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
					c.Must(err)
					if i == 1 {
						created.DeletionTimestamp = &metav1.Time{}
					}
					of = append(of, created)
				}
				taken := user("a", 0)
				if test.pod == "mounts" {
					taken = user("a", 0, "data-web-a", "logs-web-a")
				}
				taken.UID = ""
				if test.pod == "own" {
					taken.OwnerReferences = []metav1.OwnerReference{owner}
				}
				if test.pod != "" {
					taken.Namespace = "default"
					c.CreatePod(taken)
				}
				a := controller.KindOf(c.Reconciler).Self.(*reconciler).begin(&Snapshot{Set: set, Claims: of}, &Plan{})
				c.Must(a.nameTaken(t.Context(), &rollout.PodCreation{Pod: user("a", 0)}, test.cause))
				for i, claim := range of {
					live, err := claims.Get(t.Context(), claim.Name, metav1.GetOptions{})
					c.Must(err)
					got := ""
					if len(live.OwnerReferences) > 0 {
						got = live.OwnerReferences[0].Kind
					}
					if got != test.owner[i] {
						t.Errorf("claim %s is owned by %q, want %q", claim.Name, got, test.owner[i])
					}
				}
				if test.pod != "mounts" {
					return
				}
				c.Must(a.deleteUnused(t.Context(), of[2:])) // of no pod: it goes
				c.Must(a.deleteUnused(t.Context(), of[:2]))
				left, err := claims.Get(t.Context(), "logs-web-a", metav1.GetOptions{})
				if err != nil || len(left.OwnerReferences) != 1 || left.OwnerReferences[0].Kind != "Pod" {
					t.Errorf("the claims of a pod of another owner become its own: %v, %v", err, left.OwnerReferences)
				}
				if _, err := claims.Get(t.Context(), "data-web-b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Errorf("the claim of no pod: %v", err)
				}
			})
		})
	}
}

// CS-24: the claims that a new pod finds there are those of its instance that it mounts, and each is noted that is not yet.
func TestClaimsThatAreReused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(0, "")
		claims := c.Kube.CoreV1().PersistentVolumeClaims("default")
		a := controller.KindOf(c.Reconciler).Self.(*reconciler).begin(&Snapshot{Set: c.get()}, &Plan{})
		a.reusedBy = "now"
		for _, of := range []struct{ name, id, noted string }{{"noted", "a", "now"}, {"new", "a", ""}, {"stale", "a", "before"}, {"unused", "a", ""}, {"foreign", "b", ""}} {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: of.name, Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: of.id},
				Annotations: map[string]string{v1alpha1.CloneSetClaimReusedAnnotation: of.noted}}}
			created, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
			c.Must(err)
			a.snapshot.Claims = append(a.snapshot.Claims, created)
		}
		c.Must(a.noteReuse(t.Context(), &rollout.PodCreation{Pod: user("a", 0, "noted", "new", "stale", "foreign")}))
		for name, want := range map[string]string{"noted": "now", "new": "now", "stale": "now", "unused": "", "foreign": ""} {
			claim, err := claims.Get(t.Context(), name, metav1.GetOptions{})
			c.Must(err)
			if got := claim.Annotations[v1alpha1.CloneSetClaimReusedAnnotation]; got != want {
				t.Errorf("claim %s is noted %q, want %q", name, got, want)
			}
		}
	})
}
