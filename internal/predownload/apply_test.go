// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
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

// unread is a Jobs that cannot be read.
type unread struct{ Jobs }

func (unread) Owned(string, types.UID) ([]string, error) { return nil, errors.New("not indexed") }

func TestJobsOf(t *testing.T) {
	leaving, watched, elsewhere, foreign := job("leaving"), job("owned-but-not-controlled"), job("elsewhere"), job("foreign")
	leaving.DeletionTimestamp = &metav1.Time{}
	watched.OwnerReferences[0].Controller = nil
	elsewhere.Namespace = "bank"
	foreign.OwnerReferences[0].UID = "uid-other"
	readable, c := store(t, job("web-2"), job("web-1"), leaving, watched, elsewhere, foreign)
	for _, test := range []struct {
		name    string
		jobs    Jobs
		enabled bool
		want    string
	}{
		{"no jobs", nil, true, ""},
		{"not enabled", unread{}, false, ""},
		{"IP-32: jobs", readable, true, "web-1 web-2"},
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
	if len(c.Actions()) > 0 {
		t.Errorf("finding jobs sent %v", requests(c.Actions()))
	}
}

// answers are what the API server says about every request for a job, and about a label.
var answers = map[string]error{
	"exists":    apierrors.NewAlreadyExists(distributionv1alpha1.Resource("imagepulljobs"), "a"),
	"gone":      apierrors.NewNotFound(distributionv1alpha1.Resource("imagepulljobs"), "a"),
	"conflict":  apierrors.NewConflict(distributionv1alpha1.Resource("imagepulljobs"), "a", nil),
	"bad-image": apierrors.NewBadRequest("bad image"),
	"silence":   errors.New("no answer"),
}

// TestApply shows in testdata/applied.txt what becomes of a decision: requests, events, errors, and that the label is recorded. There is the job
// old. Each word is a part of the decision, or the answer to requests for jobs. The revision is "new" if it has no UID, and "missing" if it is not
// there.
func TestApply(t *testing.T) {
	datadriven.RunTest(t, "testdata/applied.txt", func(t *testing.T, d *datadriven.TestData) string {
		to := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-new", UID: "uid-rev"}}
		s, jobs := store(t, job("old"))
		do, namespace := rollout.PreDownload{}, "shop"
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "create":
				for _, name := range arg.Vals {
					do.Create = append(do.Create, job(name))
				}
			case "delete":
				do.Delete = arg.Vals
			case "label":
				do.Label = arg.Vals[0]
			case "reason":
				do.Reason = arg.Vals[0]
			case "answer":
				jobs.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answers[arg.Vals[0]] })
			case "new":
				to.UID = ""
			case "missing":
				namespace = "bank"
			default:
				d.Fatalf(t, "unknown word %s", arg.Key)
			}
		}
		kubernetes := revisions(to)
		var out, told []string
		applier := Applier{Jobs: s, Namespace: namespace, Revisions: kubernetes,
			Event: func(kind, reason, format string, args ...any) {
				told = append(told, "event "+kind+" "+reason+" "+fmt.Sprintf(format, args...))
			},
			Wrote: func(labelled metav1.Object) { told = append(told, "recorded "+labelled.GetName()) },
		}
		err := applier.Apply(t.Context(), to, do)
		if out = slices.Concat(requests(jobs.Actions()), requests(kubernetes.Actions()), told); err != nil {
			out = append(out, "error: "+err.Error())
		}
		return strings.Join(append(out, ""), "\n")
	})
}

// revisions is a client in memory that holds a revision.
func revisions(held *appsv1.ControllerRevision) *fake.FakeAppsV1 {
	client := &fake.FakeAppsV1{Fake: &clienttesting.Fake{}}
	typedclient.Serve(client.Fake, []runtime.Object{held}, appsv1.AddToScheme)
	return client
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
