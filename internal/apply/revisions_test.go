// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
)

// history is a revision whose template runs an image.
func history(name, image string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},` +
			`"spec":{"containers":[{"image":"` + image + `","name":"main","resources":{}}]}}}}`)},
		Revision: 1,
	}
}

func owner(uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: uid}
}

// stored creates a revision as another user.
func (s *fixture) stored(r *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	s.t.Helper()
	created, err := s.user.AppsV1().ControllerRevisions("shop").Create(s.t.Context(), r, metav1.CreateOptions{})
	s.must(err)
	return created
}

func (s *fixture) removeRevision(name string) {
	s.t.Helper()
	s.must(s.user.AppsV1().ControllerRevisions("shop").Delete(s.t.Context(), name, metav1.DeleteOptions{}))
}

// Revisions of a workload without a namespace stand in another one: there they are created, adopted and deleted.
func TestRevisionNamespace(t *testing.T) {
	s := newFixture(t)
	s.RevisionNamespace = "system"
	revisions := s.user.AppsV1().ControllerRevisions("system")
	r := history("web-2", "nginx:2")
	r.Namespace = "system"
	a := s.applier(&rollout.Plan{Revisions: revision.Changes{Create: r, Current: r}})
	if settled, err := a.WriteRevisions(t.Context()); err != nil || !settled {
		t.Fatalf("settled %t, error %v", settled, err)
	}
	stored, err := revisions.Get(t.Context(), "web-2", metav1.GetOptions{})
	s.must(err)
	s.must(s.AdoptRevisions(t.Context(), []*appsv1.ControllerRevision{stored}, owner("set")))
	stored, err = revisions.Get(t.Context(), "web-2", metav1.GetOptions{})
	s.must(err)
	if len(stored.OwnerReferences) != 1 || stored.OwnerReferences[0].UID != "set" {
		t.Errorf("owners %v", stored.OwnerReferences)
	}
	s.must(s.DeleteRevisions(t.Context(), []*appsv1.ControllerRevision{stored}))
	if _, err := revisions.Get(t.Context(), "web-2", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want it deleted", err)
	}
}

// A workload adopts only while it exists: what it adopts while it is being deleted would be deleted with it. The API server is asked only
// if there is something to adopt.
func TestAdopt(t *testing.T) {
	of := func(uid types.UID, edit func(*metav1.ObjectMeta)) func() (metav1.Object, error) {
		return func() (metav1.Object, error) {
			live := &metav1.ObjectMeta{UID: uid}
			if edit != nil {
				edit(live)
			}
			return live, nil
		}
	}
	pods := []rollout.PodPatch{{Kind: rollout.PatchAdopt}}
	for _, test := range []struct {
		name          string
		patch         []rollout.PodPatch
		revision      bool
		live          func() (metav1.Object, error)
		adopted, asks bool
		want          string
	}{
		{"nothing", []rollout.PodPatch{{Kind: rollout.PatchRefresh}}, false, of("set", nil), false, false, ""},
		{"a revision", nil, true, of("set", nil), true, true, ""},
		{"a pod", pods, false, of("set", nil), false, true, ""},
		{"the workload is another one", nil, true, of("other", nil), false, true, "the StatefulSet with UID set is gone or being deleted"},
		{"the workload is being deleted", pods, true, of("set", func(o *metav1.ObjectMeta) { o.DeletionTimestamp = &metav1.Time{} }), false, true,
			"the StatefulSet with UID set is gone or being deleted"},
		{"the workload cannot be read", pods, false, func() (metav1.Object, error) { return nil, errInternal }, false, true, "read the StatefulSet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			plan, asked := &rollout.Plan{}, false
			plan.Patch = test.patch
			if test.revision {
				plan.Revisions.Adopt = []*appsv1.ControllerRevision{s.stored(history("web-1", "nginx:1"))}
			}
			mine := owner("set")
			mine.Kind = "StatefulSet"
			err := s.applier(plan).Adopt(t.Context(), mine, func() (metav1.Object, error) { asked = true; return test.live() })
			if asked != test.asks || (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("asked %t, error %v, want %q", asked, err, test.want)
			}
			if adopted := slices.Contains(s.requests(), "patch controllerrevisions web-1"); adopted != test.adopted {
				t.Errorf("adopted %t, requests %q", adopted, s.requests())
			}
		})
	}
}

func TestAdoptRevisions(t *testing.T) {
	for _, test := range []struct {
		name  string
		set   func(*fixture)
		want  []types.UID // the owners afterwards
		waits bool
		fails bool
	}{
		{"an owner is added to the others", nil, []types.UID{"other", "set"}, true, false},
		{"a revision that is gone", func(s *fixture) { s.removeRevision("web-1") }, nil, false, false},
		{"a revision that has been replaced", func(s *fixture) { s.removeRevision("web-1"); s.stored(history("web-1", "mine")) }, nil, false, false},
		{"a failure", func(s *fixture) { s.fail("patch controllerrevisions", errQuota) }, []types.UID{"other"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			r := history("web-1", "nginx:1")
			r.OwnerReferences = []metav1.OwnerReference{owner("other")}
			r = s.stored(r)
			if test.set != nil {
				test.set(s)
			}
			err := s.AdoptRevisions(t.Context(), []*appsv1.ControllerRevision{r}, owner("set"))
			if (err != nil) != test.fails || (s.waitsFor() != "") != test.waits {
				t.Errorf("error %v, the next reconcile waits for %q", err, s.waitsFor())
			}
			var owners []types.UID
			if now, err := s.user.AppsV1().ControllerRevisions("shop").Get(t.Context(), "web-1", metav1.GetOptions{}); err == nil {
				for _, o := range now.OwnerReferences {
					owners = append(owners, o.UID)
				}
			}
			slices.Sort(owners)
			if diff := cmp.Diff(test.want, owners); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrepareRevisions(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	taken := func(edit func(*fixture, *appsv1.ControllerRevision)) func(*fixture) {
		return func(s *fixture) {
			r := history("web-2", "nginx:2")
			edit(s, r)
			s.stored(r)
		}
	}
	for _, test := range []struct {
		name     string
		selector *metav1.LabelSelector
		set      func(*fixture)
		want     []string
		state    RevisionState
		fails    bool
	}{
		{"CS-CR5: the revision is created", selector, nil, []string{"create controllerrevisions"}, Settled, false},
		{"CS-CR5: a failure", selector, func(s *fixture) { s.fail("create controllerrevisions", errQuota) },
			[]string{"create controllerrevisions"}, Unsettled, true},
		{"CS-CR5: other data of that name collides", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) {
			r.Data = history("", "other").Data
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR5: equal data of nobody is found", selector, taken(func(*fixture, *appsv1.ControllerRevision) {}),
			[]string{"create controllerrevisions", "get controllerrevisions web-2"}, Unsettled, false},
		{"CS-CR5: equal data of its own is found", nil, taken(func(s *fixture, r *appsv1.ControllerRevision) {
			r.OwnerReferences, r.Labels = []metav1.OwnerReference{owner(s.set.UID)}, nil
			r.OwnerReferences[0].Controller = ptr.To(true)
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Unsettled, false},
		{"CS-CR4: equal data that another one keeps, and does not control, is found", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) {
			r.OwnerReferences = []metav1.OwnerReference{owner("other")}
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Unsettled, false},
		{"CS-CR4: equal data that another one controls collides", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) {
			r.OwnerReferences = []metav1.OwnerReference{owner("other")}
			r.OwnerReferences[0].Controller = ptr.To(true)
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR4: equal data that is not selected collides", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) { r.Labels = nil }),
			[]string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR4: equal data without a selector collides", nil, taken(func(*fixture, *appsv1.ControllerRevision) {}),
			[]string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR5: data of another kind of owner collides, whatever it is", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) {
			r.Labels, r.Data = nil, runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR5: an unreadable one of nobody collides", selector, taken(func(_ *fixture, r *appsv1.ControllerRevision) {
			r.Data = runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Collided, false},
		{"CS-CR5: an unreadable one of its own is found", selector, taken(func(s *fixture, r *appsv1.ControllerRevision) {
			r.Data = runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}
			r.OwnerReferences = []metav1.OwnerReference{owner(s.set.UID)}
			r.OwnerReferences[0].Controller = ptr.To(true)
		}), []string{"create controllerrevisions", "get controllerrevisions web-2"}, Unsettled, false},
		{"CS-CR5: it is gone again", selector, func(s *fixture) {
			taken(func(*fixture, *appsv1.ControllerRevision) {})(s)
			s.fail("get controllerrevisions", errInternal)
		}, []string{"create controllerrevisions", "get controllerrevisions web-2"}, Unsettled, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			if test.set != nil {
				test.set(s)
			}
			changes := &revision.Changes{Create: history("web-2", "nginx:2")}
			state, err := s.PrepareRevisions(t.Context(), changes, test.selector, sameTemplate)
			if state != test.state || (err != nil) != test.fails {
				t.Errorf("state %v, error %v", state, err)
			}
			if waits := s.waitsFor() != ""; waits == (test.state == Collided || test.fails) {
				t.Errorf("the next reconcile waits for %q", s.waitsFor())
			}
			if diff := cmp.Diff(test.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("CS-CR5: an older revision is raised", func(t *testing.T) {
		s := newFixture(t)
		changes := &revision.Changes{Raise: s.stored(history("web-1", "nginx:1")), RaiseTo: 7}
		if state, err := s.PrepareRevisions(t.Context(), changes, selector, sameTemplate); state != Settled || err != nil || s.waitsFor() == "" {
			t.Errorf("state %v, error %v, the next reconcile waits for %q", state, err, s.waitsFor())
		}
		if now, err := s.user.AppsV1().ControllerRevisions("shop").Get(t.Context(), "web-1", metav1.GetOptions{}); err != nil || now.Revision != 7 {
			t.Errorf("error %v, number %d", err, now.Revision)
		}
		s.removeRevision("web-1")
		s.stored(history("web-1", "other"))
		if state, err := s.PrepareRevisions(t.Context(), changes, selector, sameTemplate); state == Settled || err == nil {
			t.Error("another revision of the name was raised")
		}
	})
}

// A current revision that only the cache lacks is waited for, once: pods that the
// partition holds back would be made at the update revision.
func TestCurrentRevisionThatTheCacheLacks(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, test := range []struct {
		name    string
		set     func(*fixture)
		waits   bool // the first reconcile, for the cache
		fails   bool
		another bool // the second reconcile asks again
	}{
		{"it exists", func(s *fixture) { s.stored(history("web-1", "nginx:1")) }, true, false, false},
		{"it is gone", func(*fixture) {}, false, false, false},
		{"it is somebody else's", func(s *fixture) {
			r := history("web-1", "nginx:1")
			r.OwnerReferences = []metav1.OwnerReference{owner("other")}
			r.OwnerReferences[0].Controller = ptr.To(true)
			s.stored(r)
		}, false, false, false},
		{"nobody knows whose it is", func(s *fixture) {
			r := history("web-1", "nginx:1")
			r.Data.Raw = []byte(`{"of":"another"}`)
			s.stored(r)
		}, false, false, false},
		{"nobody can tell", func(s *fixture) { s.fail("get controllerrevisions", errInternal) }, false, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			test.set(s)
			prepare := func() (bool, error) {
				state, err := s.PrepareRevisions(t.Context(), &revision.Changes{Missing: "web-1"}, selector, sameTemplate)
				return state == Settled, err
			}
			settled, err := prepare()
			if settled == (test.waits || test.fails) || (err != nil) != test.fails || (s.waitsFor() != "") != test.waits {
				t.Errorf("settled %v, error %v, the next reconcile waits for %q", settled, err, s.waitsFor())
			}
			if settled, err := prepare(); settled == test.another || (err != nil) != test.another {
				t.Errorf("the second reconcile: settled %v, error %v", settled, err)
			}
			want := []string{"get controllerrevisions web-1"}
			if test.another {
				want = append(want, want...)
			}
			if diff := cmp.Diff(want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeleteRevisions(t *testing.T) {
	s := newFixture(t)
	old := []*appsv1.ControllerRevision{}
	for _, name := range []string{"web-1", "web-2", "web-3", "web-4"} {
		old = append(old, s.stored(history(name, name)))
	}
	s.removeRevision("web-2")
	_, err := s.user.AppsV1().ControllerRevisions("shop").Patch(t.Context(), "web-3", types.MergePatchType, []byte(`{"revision":9}`), metav1.PatchOptions{})
	s.must(err)
	s.fail("delete controllerrevisions web-4", errQuota)
	if err := s.DeleteRevisions(t.Context(), old); len(Separate(err)) != 1 || !apierrors.IsForbidden(Separate(err)[0]) {
		t.Errorf("error %v, want that of web-4 alone", err)
	}
	left, err := s.user.AppsV1().ControllerRevisions("shop").List(t.Context(), metav1.ListOptions{})
	s.must(err)
	var names []string
	for _, r := range left.Items {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"web-3", "web-4"}, names); diff != "" {
		t.Errorf("CS-CR7: what has changed or cannot be deleted stays (-want +got):\n%s", diff)
	}
}
