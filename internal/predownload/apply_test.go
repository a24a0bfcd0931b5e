// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/typed/apps/v1/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/client"
	distributionfake "github.com/podwright/podwright/distribution/client/fake"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// job is a job of the namespace shop that web controls.
func job(name string) *distributionv1alpha1.ImagePullJob {
	return &distributionv1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name),
			OwnerReferences: []metav1.OwnerReference{{Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: ptr.To(true)}},
		},
		Spec: distributionv1alpha1.ImagePullJobSpec{Image: "nginx:2"},
	}
}

// store returns a store whose cache and API server hold the same jobs.
func store(t *testing.T, jobs ...*distributionv1alpha1.ImagePullJob) (*Store, *distributionfake.Client) {
	t.Helper()
	var objects []runtime.Object
	for _, job := range jobs {
		objects = append(objects, job)
	}
	c := distributionfake.NewClient(objects...)
	informer := client.NewImagePullJobInformer(c, "", 0, cache.Indexers{})
	s, err := NewStore(c, informer)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if err := informer.GetIndexer().Add(job); err != nil {
			t.Fatal(err)
		}
	}
	return s, c
}

// requests are the calls that a fake client has recorded.
func requests(actions []clienttesting.Action) (out []string) {
	for _, action := range actions {
		text := action.GetVerb() + " " + action.GetResource().Resource
		switch a := action.(type) {
		case clienttesting.PatchAction:
			text += fmt.Sprintf(" %s %s %s", a.GetName(), a.GetPatchType(), a.GetPatch())
		case clienttesting.DeleteActionImpl:
			text += fmt.Sprintf(" %s uid=%s", a.GetName(), *a.GetDeleteOptions().Preconditions.UID)
		case clienttesting.CreateAction:
			text += " " + a.GetObject().(metav1.Object).GetName()
		}
		out = append(out, text)
	}
	return out
}

func TestOwned(t *testing.T) {
	leaving := job("leaving")
	leaving.DeletionTimestamp = &metav1.Time{}
	watched := job("owned-but-not-controlled")
	watched.OwnerReferences[0].Controller = nil
	elsewhere := job("elsewhere")
	elsewhere.Namespace = "bank"
	foreign := job("foreign")
	foreign.OwnerReferences[0].UID = "uid-other"
	s, c := store(t, job("b"), job("a"), leaving, watched, elsewhere, foreign)

	got, err := s.Owned("shop", "uid-web")
	if diff := cmp.Diff([]string{"a", "b"}, got); err != nil || diff != "" {
		t.Errorf("IP-32: error %v, jobs (-want +got):\n%s", err, diff)
	}
	if len(c.Actions()) > 0 {
		t.Errorf("finding jobs sent %v", requests(c.Actions()))
	}
}

// unread is a Jobs that cannot be read.
type unread struct{ Jobs }

func (unread) Owned(string, types.UID) ([]string, error) { return nil, errors.New("not indexed") }

func TestJobsOf(t *testing.T) {
	readable, _ := store(t, job("web-1"))
	for _, test := range []struct {
		name    string
		jobs    Jobs
		enabled bool
		want    string
	}{
		{"no jobs", nil, true, ""},
		{"not enabled", unread{}, false, ""},
		{"jobs", readable, true, "web-1"},
		{"an error", unread{}, true, "find the image pull jobs of CloneSet shop/web: not indexed"},
	} {
		names, err := JobsOf(test.jobs, test.enabled, &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"}, "CloneSet")
		got := strings.Join(names, " ")
		if err != nil {
			got += err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDelete(t *testing.T) {
	for _, test := range []struct {
		name   string
		job    string
		answer error
		want   []string
		fails  bool
	}{
		{"IP-32: a job", "a", nil, []string{"delete imagepulljobs a uid=uid-a"}, false},
		{"IP-32: a job that the cache no longer holds", "z", nil, nil, false},
		{"IP-32: a job that is gone", "a", apierrors.NewNotFound(distributionv1alpha1.Resource("imagepulljobs"), "a"), []string{"delete imagepulljobs a uid=uid-a"}, false},
		{"IP-32: another job of the same name", "a", apierrors.NewConflict(distributionv1alpha1.Resource("imagepulljobs"), "a", nil), []string{"delete imagepulljobs a uid=uid-a"}, false},
		{"IP-32: a refusal", "a", errors.New("no"), []string{"delete imagepulljobs a uid=uid-a"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := store(t, job("a"))
			if test.answer != nil {
				c.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.answer })
			}
			if err := s.Delete(context.Background(), "shop", test.job); (err != nil) != test.fails {
				t.Errorf("error %v, want one: %t", err, test.fails)
			}
			if diff := cmp.Diff(test.want, requests(c.Actions())); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApply(t *testing.T) {
	resource := distributionv1alpha1.Resource("imagepulljobs")
	label := func(key string) string {
		return `patch controllerrevisions web-new application/merge-patch+json {"metadata":{"labels":{"` + key + `":"true"},"uid":"uid-rev"}}`
	}
	create := rollout.PreDownload{
		Create: []*distributionv1alpha1.ImagePullJob{job("a"), job("b")}, Label: inplacev1alpha1.PreDownloadCreatedLabel}
	created := []string{"create imagepulljobs a", "create imagepulljobs b"}

	for _, test := range []struct {
		name   string
		do     rollout.PreDownload
		answer error // to every request about a job
		jobs   []string
		labels []string
		events []string
		fails  string
	}{
		{name: "nothing costs nothing", do: rollout.PreDownload{}},
		{name: "IP-31: a wait costs nothing", do: rollout.PreDownload{Reason: "later"}},
		{name: "IP-29: ignored", do: rollout.PreDownload{Label: inplacev1alpha1.PreDownloadIgnoredLabel, Reason: "few"},
			labels: []string{label(inplacev1alpha1.PreDownloadIgnoredLabel)}},
		{name: "IP-30: jobs, then the label", do: create, jobs: created,
			labels: []string{label(inplacev1alpha1.PreDownloadCreatedLabel)},
			events: []string{"Normal CreatedImagePullJob created ImagePullJob a for image nginx:2", "Normal CreatedImagePullJob created ImagePullJob b for image nginx:2"}},
		{name: "IP-30: jobs that exist already", do: create, answer: apierrors.NewAlreadyExists(resource, "a"), jobs: created,
			labels: []string{label(inplacev1alpha1.PreDownloadCreatedLabel)}},
		{name: "IP-30: a failure is tried again, without the label", do: create, answer: errors.New("no answer"), jobs: created,
			events: []string{"Normal FailedCreateImagePullJob create ImagePullJob a for image nginx:2: no answer", "Normal FailedCreateImagePullJob create ImagePullJob b for image nginx:2: no answer"},
			fails:  "create ImagePullJob a: no answer"},
		{name: "IP-30: a refusal is not", do: create, answer: apierrors.NewBadRequest("bad image"), jobs: created,
			labels: []string{label(inplacev1alpha1.PreDownloadCreatedLabel)},
			events: []string{"Normal FailedCreateImagePullJob create ImagePullJob a for image nginx:2: bad image", "Normal FailedCreateImagePullJob create ImagePullJob b for image nginx:2: bad image"}},
		{name: "IP-32: deletion", do: rollout.PreDownload{Delete: []string{"old"}}, jobs: []string{"delete imagepulljobs old uid=uid-old"}},
		{name: "IP-32: deletion fails", do: rollout.PreDownload{Delete: []string{"old"}}, answer: errors.New("no answer"),
			jobs: []string{"delete imagepulljobs old uid=uid-old"}, fails: "delete ImagePullJob old: no answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, jobs := store(t, job("old"))
			if test.answer != nil {
				jobs.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.answer })
			}
			to := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-new", UID: "uid-rev"}}
			kubernetes := revisions(to)
			var events, wrote []string
			applier := Applier{Jobs: s, Namespace: "shop", Revisions: kubernetes,
				Event: func(kind, reason, format string, args ...any) {
					events = append(events, kind+" "+reason+" "+fmt.Sprintf(format, args...))
				},
				Wrote: func(labelled metav1.Object) { wrote = append(wrote, labelled.GetName()) },
			}
			err := applier.Apply(context.Background(), to, test.do)
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			type seen struct{ Jobs, Labels, Events []string }
			want := seen{test.jobs, test.labels, test.events}
			got := seen{requests(jobs.Actions()), requests(kubernetes.Actions()), events}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			if len(wrote) != len(test.labels) {
				t.Errorf("recorded writes of %v, want one per label", wrote)
			}
		})
	}
}

// revisions is a client in memory that holds a revision.
func revisions(held *appsv1.ControllerRevision) *fake.FakeAppsV1 {
	client := &fake.FakeAppsV1{Fake: &clienttesting.Fake{}}
	typedclient.Serve(client.Fake, []runtime.Object{held}, appsv1.AddToScheme)
	return client
}

func TestLabelOfANewRevision(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-new"}}
	kubernetes := revisions(revision)
	applier := Applier{Namespace: "shop", Revisions: kubernetes, Wrote: func(metav1.Object) {}}
	if err := applier.Apply(context.Background(), revision, rollout.PreDownload{Label: "decided"}); err != nil {
		t.Fatal(err)
	}
	want := []string{`patch controllerrevisions web-new application/merge-patch+json {"metadata":{"labels":{"decided":"true"}}}`}
	if diff := cmp.Diff(want, requests(kubernetes.Actions())); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	gone := Applier{Namespace: "bank", Revisions: kubernetes}
	if err := gone.Apply(context.Background(), revision, rollout.PreDownload{Label: "decided"}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v for a revision that does not exist, want not found", err)
	}
}

func TestNewStoreNeedsBoth(t *testing.T) {
	c := distributionfake.NewClient()
	if _, err := NewStore(c, nil); err == nil {
		t.Error("no error without an informer")
	}
	if _, err := NewStore(nil, client.NewImagePullJobInformer(c, "", 0, cache.Indexers{})); err == nil {
		t.Error("no error without a client")
	}
}
