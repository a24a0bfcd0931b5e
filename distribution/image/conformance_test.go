// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// of is the cluster of this package's tests on that of the suite.
func of(c *conformance.Cluster) *cluster {
	own := &cluster{Bubble: &fixture.Bubble{T: c.T, Server: c.Server}, kube: c.Kube}
	own.images, own.jobs = own.distribution(fixture.TestUser).NodeImages(), own.distribution(fixture.TestUser).ImagePullJobs(namespace)
	return own
}

// TestConformanceOfImagePullJob pulls an image on two nodes; then the job is to go.
func TestConformanceOfImagePullJob(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: jobResource, More: []fakecluster.Resource{nodeImageResource, cloneSetResource, statefulSetResource, secretResource},
		Watches: []string{"imagepulljobs", "nodeimages", "secrets"},
		Writes:  []string{"patch nodeimages", "patch imagepulljobs/status", "delete imagepulljobs"},
		Unasked: map[string]string{
			"get /secrets":                         "the scenario has no pull secrets (IMG-1.6)",
			"get /secrets in kruise-daemon-config": "the same", "create /secrets in kruise-daemon-config": "the same",
			"update /secrets in kruise-daemon-config": "the same", "delete /secrets in kruise-daemon-config": "the same",
			"patch apps.kruise.io/imagepulljobs": "jobs of OpenKruise alone have the finalizer that is taken away (IMG-1.15)",
			"get apps.kruise.io/imagepulljobs":   "the API server is asked whether the job of a copy is gone",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			d, kube := of(c).distribution(fixture.ControllerUser), c.Client(fixture.ControllerUser)
			o := imagepulljob.Options{Distribution: d, Kubernetes: kube, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				ImagePullJobs: c.Share(client.NewImagePullJobInformer(d, "", 0, cache.Indexers{})),
				NodeImages:    c.Share(client.NewNodeImageInformer(d, 0, cache.Indexers{})),
				Copies:        c.Share(imagepulljob.NewCopyInformer(kube)),
				Pods:          c.Share(caches.NewInformers(kube, "").Pods())}
			made, err := conformance.Made(jobPackage, o, imagepulljob.Rules(o))
			made.NamespaceRules = conformance.In(imagepulljob.NamespaceRules(o))
			return made, err
		},
		Prepare: func(c *conformance.Cluster) {
			for _, node := range []string{"n0", "n1"} {
				_, err := of(c).images.Create(c.T.Context(), &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{})
				c.Must(err)
			}
		},
		Create: func(c *conformance.Cluster, name string) { of(c).addJob(name, "image: "+name+":1\nparallelism: 2") },
		Change: func(c *conformance.Cluster, name string) {
			c.EditNamed(name, `{"spec":{"completionPolicy":{"ttlSecondsAfterFinished":5}}}`)
		},
		Step: func(c *conformance.Cluster) {
			of(c).agents(func(string) v1alpha1.ImagePullPhase { return v1alpha1.ImagePhaseSucceeded })
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			var out []string
			for _, task := range of(c).tasks() {
				if strings.HasSuffix(task, " "+name) {
					out = append(out, task)
				}
			}
			if _, err := of(c).jobs.Get(c.T.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				out = append(out, fmt.Sprint("the job is there, error ", err))
			}
			return strings.Join(out, "\n")
		},
	})
}

// TestConformanceOfNodeImage gives a node its NodeImage, and takes from it the task of a job that is gone.
func TestConformanceOfNodeImage(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: nodeImageResource, More: []fakecluster.Resource{jobResource},
		Watches: []string{"nodeimages", "nodes", "imagepulljobs"},
		Writes:  []string{"create nodeimages", "patch nodeimages"},
		Unasked: map[string]string{"patch apps.kruise.io/nodeimages/status": "in the scenario the agent is there, so that no task fails (IMG-2.4)"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			d, kube := of(c).distribution(fixture.ControllerUser), c.Client(fixture.ControllerUser)
			o := nodeimage.Options{Distribution: d, Kubernetes: kube, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				Timing:        nodeimage.Timing{CreationDelay: -1},
				ImagePullJobs: c.Share(client.NewImagePullJobInformer(d, "", 0, cache.Indexers{})),
				NodeImages:    c.Share(client.NewNodeImageInformer(d, 0, cache.Indexers{})),
				Nodes:         c.Share(caches.NewInformers(kube, "").Nodes())}
			return conformance.Made(nodePackage, o, nodeimage.Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) { of(c).addNode(name, nil) },
		Change: func(c *conformance.Cluster, name string) {
			task := `{"spec":{"images":{"nginx":{"tags":[{"tag":"1","version":1,"createdAt":"2000-01-01T00:00:00Z","ownerReferences":[
				{"apiVersion":"apps.kruise.io/v1alpha1","kind":"ImagePullJob","namespace":"default","name":"gone","uid":"gone"}]}]}}}}`
			_, err := of(c).images.Patch(c.T.Context(), name, types.MergePatchType, []byte(task), metav1.PatchOptions{})
			if !apierrors.IsNotFound(err) { // it may not exist yet
				c.Must(err)
			}
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			return fmt.Sprint(name, " has ", len(of(c).nodeImage(name).Spec.Images), " images")
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Noise: func(c *conformance.Cluster, _ int) { of(c).heartbeat() },
	})
}

func TestOptions(t *testing.T) {
	c := &cluster{Bubble: &fixture.Bubble{T: t, Server: fakecluster.New(nil)}}
	conformance.CheckOptions(t, conformance.Options[imagepulljob.Options]{Good: imagepulljob.Options{Distribution: c.distribution(testUser), Kubernetes: c.Kubernetes(testUser)}, Required: "Distribution Kubernetes",
		New:           func(o imagepulljob.Options) error { _, err := imagepulljob.New(o); return err },
		NewReconciler: func(o imagepulljob.Options) error { _, err := imagepulljob.NewReconciler(o); return err }})
	conformance.CheckOptions(t, conformance.Options[nodeimage.Options]{Good: nodeimage.Options{Distribution: c.distribution(testUser), Kubernetes: c.Kubernetes(testUser)}, Required: "Distribution", RequiredByNew: "Kubernetes", MayBeNegative: "Timing.CreationDelay",
		New:           func(o nodeimage.Options) error { _, err := nodeimage.New(o); return err },
		NewReconciler: func(o nodeimage.Options) error { _, err := nodeimage.NewReconciler(o); return err }})
}
