// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// What the API server knows.
var (
	listResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImageListPullJob"), "imagelistpulljobs")
	jobResource  = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs")
)

var lists = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: func(p *Plan) bool { return p.String() != "" }}

// TestConformance pulls two images for as long as the job stays. Then another image takes the place of the second, and the job is to end and go.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: listResource, More: []fakecluster.Resource{jobResource},
		Watches: []string{"imagelistpulljobs", "imagepulljobs"},
		Writes:  []string{"create imagepulljobs", "delete imagepulljobs", "patch imagelistpulljobs/status", "delete imagelistpulljobs"},
		Unasked: map[string]string{
			"patch apps.kruise.io/imagepulljobs": "those with a time to live are of OpenKruise (ILP-5)",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			d := connect(c, fixture.ControllerUser)
			o := Options{Distribution: d, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				ImageListPullJobs: c.Share(client.NewImageListPullJobInformer(d, "", 0, cache.Indexers{})),
				ImagePullJobs:     c.Share(client.NewImagePullJobInformer(d, "", 0, cache.Indexers{}))}
			return conformance.Made(lists, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			job := newJob(c.T, "completionPolicy: {type: Never}")
			job.ObjectMeta = metav1.ObjectMeta{Name: name}
			_, err := connect(c, fixture.TestUser).ImageListPullJobs("default").Create(c.T.Context(), job, metav1.CreateOptions{})
			c.Must(err)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.EditNamed(name, `{"spec":{"images":["a","c"],"completionPolicy":{"type":"Always","ttlSecondsAfterFinished":5}}}`)
		},
		Step: pull,
		Outcome: func(c *conformance.Cluster, name string) string {
			var out []string
			for _, job := range jobs(c) {
				if strings.HasPrefix(job.Name, name+"-") {
					out = append(out, job.Spec.Image)
				}
			}
			if _, err := connect(c, fixture.TestUser).ImageListPullJobs("default").Get(c.T.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				out = append(out, fmt.Sprint("the job is there, error ", err))
			}
			slices.Sort(out)
			return strings.Join(out, "\n")
		},
	})
}

func connect(c *conformance.Cluster, user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

func jobs(c *conformance.Cluster) []v1alpha1.ImagePullJob {
	c.T.Helper()
	list, err := connect(c, fixture.TestUser).ImagePullJobs("default").List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	return list.Items
}

// pull plays the controller of ImagePullJobs: each begins, and in the next step its only node has the image. The garbage collector
// follows.
func pull(c *conformance.Cluster) {
	for _, job := range jobs(c) {
		if job.Status.CompletionTime != nil || job.DeletionTimestamp != nil {
			continue
		}
		if now := metav1.Now(); job.Status.StartTime == nil {
			job.Status = v1alpha1.ImagePullJobStatus{StartTime: &now, Desired: 1, Active: 1}
		} else {
			job.Status = v1alpha1.ImagePullJobStatus{StartTime: job.Status.StartTime, CompletionTime: &now, Desired: 1, Succeeded: 1}
		}
		_, err := connect(c, fixture.TestUser).ImagePullJobs("default").UpdateStatus(c.T.Context(), &job, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			c.Must(err)
		}
	}
	c.CollectGarbage()
}

func TestOptions(t *testing.T) {
	c := &conformance.Cluster{Cluster: &fixture.Cluster{T: t, Server: fakecluster.New(nil)}}
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Distribution: connect(c, fixture.TestUser)}, Required: "Distribution",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}
