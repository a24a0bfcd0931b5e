// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/podwright/podwright"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads/broadcastjob"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	workloadsconversion "github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// manager is the user of the controllers' requests.
const manager = "podwright"

// noon is when OpenKruise stops and podwright takes over.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// releases are those of OpenKruise, and how podwright is told to behave as they do.
var releases = map[string]features.Flags{
	"1.5": {Release: podwright.Release14, Gates: "ResourceDistributionGate=true"},
	"1.6": {Release: podwright.Release14},
	"1.7": {Release: podwright.Release14},
	"1.8": {Release: podwright.Release19, Gates: "ImagePullJobGate=true,InPlaceWorkloadVerticalScaling=true"},
	"1.9": {Release: podwright.Release19, Gates: "AllAlpha=true,AllBeta=true,CloneSetShortHash=false,TemplateNoDefaults=false"},
}

// cluster is one that OpenKruise has left.
type cluster struct {
	*testing.T
	*fakecluster.Cluster
	ctx     context.Context
	dynamic dynamic.Interface
	mapper  meta.RESTMapper

	mutex  sync.Mutex
	writes map[string]bool // of podwright, but for events and the status of its own kinds
}

// more are the kinds that the cluster in memory does not have by itself.
func more() []fakecluster.Resource {
	registration := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}.WithKind
	return []fakecluster.Resource{
		{GroupVersionKind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Plural: "customresourcedefinitions", ClusterScoped: true},
		{GroupVersionKind: registration("MutatingWebhookConfiguration"), Plural: "mutatingwebhookconfigurations", ClusterScoped: true},
		{GroupVersionKind: registration("ValidatingWebhookConfiguration"), Plural: "validatingwebhookconfigurations", ClusterScoped: true},
	}
}

// in has a story play at noon, in a cluster that a release has left two minutes before.
func in(t *testing.T, release string, story func(*cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon.Add(-2 * time.Minute)))
		c := &cluster{T: t, Cluster: fakecluster.New(more()...), ctx: t.Context(), writes: map[string]bool{}}
		config := c.Config("test")
		c.dynamic = dynamic.NewForConfigOrDie(config)
		groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(config))
		if err != nil {
			t.Fatal(err)
		}
		c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		c.leave(read(t, "common.yaml", release+"/installation.yaml", release+"/objects.yaml"))
		for range 2 { // containers run
			if err := c.Step(c.ctx); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Until(noon))
		story(c)
	})
}

// takeOver runs podwright's controllers for a while, beside kubelets.
func (c *cluster) takeOver(gates *features.Gates, long time.Duration) {
	c.Helper()
	c.FailRequests(func(user, request, name string) error {
		c.note(user, request, name)
		return nil
	})
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan error)
	go func() { ended <- c.Cluster.Run(ctx, time.Second, c.controllers(gates)...) }()
	time.Sleep(long)
	cancel()
	if err := <-ended; err != nil {
		c.Error(err)
	}
}

// note notes a write that the data have to expect.
func (c *cluster) note(user, request, name string) {
	verb, resource, _ := strings.Cut(request, " ")
	of, subresource, _ := strings.Cut(resource, "/")
	if user != manager || !slices.Contains([]string{"create", "update", "patch", "delete"}, verb) || of == "events" || subresource == "status" && of != "pods" {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.writes[strings.TrimSpace(request+" "+name)] = true
}

// controllers are those of the kinds that the data have.
func (c *cluster) controllers(gates *features.Gates) (all []func(context.Context) error) {
	c.Helper()
	config := c.Config(manager)
	kube := kubernetes.NewForConfigOrDie(config)
	workloads, err := workloadsclient.NewForConfig(config)
	c.must(err)
	sidecar, err := sidecarclient.NewForConfig(config)
	c.must(err)
	distribution, err := distributionclient.NewForConfig(config)
	c.must(err)
	lifecycle, err := lifecycleclient.NewForConfig(config)
	c.must(err)

	cloneSets, err := cloneset.New(cloneset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.CloneSet(gates)})
	c.must(err)
	statefulSets, err := statefulset.New(statefulset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.StatefulSet(gates)})
	c.must(err)
	daemonSets, err := daemonset.New(daemonset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.DaemonSet(gates)})
	c.must(err)
	unitedDeployments, err := uniteddeployment.New(uniteddeployment.Options{Kubernetes: kube, Workloads: workloads, Features: switches.UnitedDeployment(gates)})
	c.must(err)
	broadcastJobs, err := broadcastjob.New(broadcastjob.Options{Kubernetes: kube, Workloads: workloads})
	c.must(err)
	cronJobs, err := cronjob.New(cronjob.Options{Kubernetes: kube, Workloads: workloads})
	c.must(err)
	sidecarSets, err := sidecarset.New(sidecarset.Options{Kubernetes: kube, Sidecar: sidecar, Injection: switches.Injection(gates), Features: switches.SidecarSet(gates)})
	c.must(err)
	pullJobs, err := imagepulljob.New(imagepulljob.Options{Kubernetes: kube, Distribution: distribution})
	c.must(err)
	ephemeralJobs, err := ephemeraljob.New(ephemeraljob.Options{Kubernetes: kube, Lifecycle: lifecycle})
	c.must(err)
	return []func(context.Context) error{cloneSets.Run, statefulSets.Run, daemonSets.Run, unitedDeployments.Run, broadcastJobs.Run, cronJobs.Run, sidecarSets.Run, pullJobs.Run, ephemeralJobs.Run}
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// everything is what is listed.
var everything = metav1.ListOptions{}

// settled fails the test if the rollout of a CloneSet has not ended.
func (c *cluster) settled(name string, pods int64) {
	c.Helper()
	set := c.get(schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}, "shop", name)
	for _, field := range []string{"replicas", "updatedReplicas", "updatedReadyReplicas", "updatedAvailableReplicas"} {
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", field); n != pods {
			c.Errorf("CloneSet %s: %s is %d, want %d", name, field, n, pods)
		}
	}
}

// released fails the test if a finalizer or a copy is left that only OpenKruise would take away.
func (c *cluster) released() {
	c.Helper()
	if job := c.get(schema.GroupKind{Group: "apps.kruise.io", Kind: "ImagePullJob"}, "shop", "hangs"); job != nil {
		c.Errorf("IMG-1.15: ImagePullJob hangs is here still, with finalizers %v", job.GetFinalizers())
	}
	if job := c.get(schema.GroupKind{Group: "apps.kruise.io", Kind: "ImagePullJob"}, "shop", "over"); len(job.GetFinalizers()) > 0 {
		c.Errorf("IMG-1.15: ImagePullJob over has finalizers %v", job.GetFinalizers())
	}
	if job := c.get(schema.GroupKind{Group: "apps.kruise.io", Kind: "EphemeralJob"}, "shop", "debug"); job != nil {
		c.Errorf("EJ-20: EphemeralJob debug is here still, with finalizers %v", job.GetFinalizers())
	}
	if copied := c.get(schema.GroupKind{Kind: "Secret"}, "kruise-daemon-config", "registry-x7k2p"); copied != nil {
		c.Error("IMG-1.15: the copy of the pull secret is here still")
	}
}

// converters convert objects between versions, as the API server has podwright do with --serve-v1beta1.
var converters = map[string]func([]byte, string) ([]byte, error){
	"DaemonSet": workloadsconversion.DaemonSet, "BroadcastJob": workloadsconversion.BroadcastJob, "AdvancedCronJob": workloadsconversion.AdvancedCronJob,
	"SidecarSet": sidecarconversion.SidecarSet, "ImagePullJob": distributionconversion.ImagePullJob, "NodeImage": distributionconversion.NodeImage,
}
