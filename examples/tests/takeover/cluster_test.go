// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/podwright/podwright"
	availabilityclient "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
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
	"1.9": {Release: podwright.Release19, Gates: "AllAlpha=true,AllBeta=true,CloneSetShortHash=false,EnableExternalCerts=false,TemplateNoDefaults=false"},
}

// simulated is a cluster in memory that OpenKruise has left.
type simulated struct {
	site
	*fakecluster.Cluster

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
func in(t *testing.T, release string, story func(*simulated)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon.Add(-2 * time.Minute)))
		c := &simulated{site: site{T: t, ctx: t.Context(), uids: map[string]types.UID{}}, Cluster: fakecluster.New(more()...), writes: map[string]bool{}}
		config := c.Config("test")
		c.dynamic = dynamic.NewForConfigOrDie(config)
		groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(config))
		if err != nil {
			t.Fatal(err)
		}
		c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		c.leave(read(t, func(text string) string { return text }, filesOf(release)...))
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
func (c *simulated) takeOver(gates *features.Gates, long time.Duration) {
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
func (c *simulated) note(user, request, name string) {
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
func (c *simulated) controllers(gates *features.Gates) (all []func(context.Context) error) {
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

	availability, err := availabilityclient.NewForConfig(config)
	c.must(err)

	add := func(controller interface{ Run(context.Context) error }, err error) {
		c.Helper()
		c.must(err)
		all = append(all, controller.Run)
	}
	add(cloneset.New(cloneset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.CloneSet(gates)}))
	add(statefulset.New(statefulset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.StatefulSet(gates)}))
	add(daemonset.New(daemonset.Options{Kubernetes: kube, Workloads: workloads, Features: switches.DaemonSet(gates)}))
	add(uniteddeployment.New(uniteddeployment.Options{Kubernetes: kube, Workloads: workloads, Features: switches.UnitedDeployment(gates)}))
	add(broadcastjob.New(broadcastjob.Options{Kubernetes: kube, Workloads: workloads}))
	add(cronjob.New(cronjob.Options{Kubernetes: kube, Workloads: workloads}))
	add(sidecarset.New(sidecarset.Options{Kubernetes: kube, Sidecar: sidecar, Injection: switches.Injection(gates), Features: switches.SidecarSet(gates)}))
	add(imagepulljob.New(imagepulljob.Options{Kubernetes: kube, Distribution: distribution}))
	add(imagelistpulljob.New(imagelistpulljob.Options{Distribution: distribution}))
	add(nodeimage.New(nodeimage.Options{Kubernetes: kube, Distribution: distribution}))
	add(workloadspread.New(workloadspread.Options{Kubernetes: kube, Distribution: distribution}))
	add(persistentpodstate.New(persistentpodstate.Options{Kubernetes: kube, Distribution: distribution}))
	if gates.Enabled(features.ResourceDistributionGate) {
		add(resource.New(resource.Options{Kubernetes: kube, Distribution: distribution}))
	}
	add(ephemeraljob.New(ephemeraljob.Options{Kubernetes: kube, Lifecycle: lifecycle}))
	add(podprobemarker.New(podprobemarker.Options{Kubernetes: kube, Lifecycle: lifecycle}))
	add(nodepodprobe.New(nodepodprobe.Options{Kubernetes: kube, Lifecycle: lifecycle}))
	add(recreate.New(recreate.Options{Kubernetes: kube, Lifecycle: lifecycle}))
	add(podunavailablebudget.New(podunavailablebudget.Options{Kubernetes: kube, Availability: availability, Features: switches.PodUnavailableBudget(gates)}))
	return all
}

func (c *site) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// everything is what is listed.
var everything = metav1.ListOptions{}

// settled says what the rollout of a CloneSet waits for: nil if it has ended.
func (c *site) settled(namespace, name string, pods int64) error {
	c.Helper()
	set := c.get(kindOf("CloneSet"), namespace, name)
	for _, field := range []string{"replicas", "updatedReplicas", "updatedReadyReplicas", "updatedAvailableReplicas"} {
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", field); n != pods {
			return fmt.Errorf("CloneSet %s: %s is %d, want %d", name, field, n, pods)
		}
	}
	return nil
}

// gone are objects that OpenKruise would never have let end, and the rules by which they do.
var gone = []struct{ rule, kind, namespace, name string }{
	{"IMG-1.15", "ImagePullJob", "shop", "hangs"}, {"EJ-20", "EphemeralJob", "shop", "debug"}, {"PPM-2.4", "PodProbeMarker", "shop", "left"},
	{"IMG-1.15", "Secret", "kruise-daemon-config", "registry-x7k2p"},
}

// released says what is left that only OpenKruise would take away, or what a second run of it would have done. It returns nil if
// all is well.
func (c *site) released(namespace string) error {
	c.Helper()
	for _, g := range gone {
		if g.namespace == "shop" {
			g.namespace = namespace
		}
		if left := c.get(kindOf(g.kind), g.namespace, g.name); left != nil {
			return fmt.Errorf("%s: %s %s is here still, with finalizers %v", g.rule, g.kind, g.name, left.GetFinalizers())
		}
	}
	if job := c.get(kindOf("ImagePullJob"), namespace, "over"); len(job.GetFinalizers()) > 0 {
		return fmt.Errorf("IMG-1.15: ImagePullJob over has finalizers %v", job.GetFinalizers())
	}
	stops := c.get(kindOf("ContainerRecreateRequest"), namespace, "stops")
	if ended, _, _ := unstructured.NestedString(stops.Object, "status", "completionTime"); ended == "" || len(stops.GetFinalizers()) > 0 || stops.GetLabels()["crr.apps.kruise.io/active"] != "" {
		return fmt.Errorf("CRR-M4: ContainerRecreateRequest stops ended at %q, with finalizers %v and labels %v", ended, stops.GetFinalizers(), stops.GetLabels())
	}
	for _, one := range at(c.get(pods, namespace, "stopped").Object, "status", "conditions") {
		if ready, _ := one.(map[string]any); ready["type"] == "KruisePodReady" && ready["status"] != "True" {
			return fmt.Errorf("CRR-M4: the pod stopped is out of service still: %v", ready)
		}
	}
	images := c.get(kindOf("NodeImage"), "", "node-1")
	for _, one := range at(images.Object, "spec", "images", "redis", "tags") {
		if tag, _ := one.(map[string]any); fmt.Sprint(tag["version"]) != "1" {
			return fmt.Errorf("IMG-1.6: redis:%v is pulled again, its version is %v", tag["tag"], tag["version"])
		}
	}
	return nil
}

// at is the list that stands at a path; nil if there is none.
func at(object map[string]any, path ...string) []any {
	list, _, _ := unstructured.NestedSlice(object, path...)
	return list
}

// kindOf is one of OpenKruise's or of the core group.
func kindOf(kind string) schema.GroupKind {
	if kind == "Secret" {
		return schema.GroupKind{Kind: kind}
	}
	return schema.GroupKind{Group: "apps.kruise.io", Kind: kind}
}

// converters convert objects between versions, as the API server has podwright do with --serve-v1beta1.
var converters = map[string]func([]byte, string) ([]byte, error){
	"DaemonSet": workloadsconversion.DaemonSet, "BroadcastJob": workloadsconversion.BroadcastJob, "AdvancedCronJob": workloadsconversion.AdvancedCronJob,
	"SidecarSet": sidecarconversion.SidecarSet, "ImagePullJob": distributionconversion.ImagePullJob, "ImageListPullJob": distributionconversion.ImageListPullJob, "NodeImage": distributionconversion.NodeImage,
}

// conversionWebhook converts in the place of OpenKruise's, which takeover check asks while OpenKruise runs.
func conversionWebhook() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"kind":"SidecarSet"`)) {
			sidecarconversion.Handler().ServeHTTP(w, r)
			return
		}
		workloadsconversion.Handler().ServeHTTP(w, r)
	})
}
