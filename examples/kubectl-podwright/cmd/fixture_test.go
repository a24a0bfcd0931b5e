// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// noon is when the tests play.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// served is a kind that the API server of the tests has.
type served struct {
	kind          schema.GroupVersionKind
	resource      string
	clusterScoped bool
	object        func() any
}

func builtIns() []served {
	core, apps, batch := corev1.SchemeGroupVersion.WithKind, appsv1.SchemeGroupVersion.WithKind, batchv1.SchemeGroupVersion.WithKind
	return []served{
		{kind: core("Pod"), resource: "pods"}, {kind: core("Node"), resource: "nodes", clusterScoped: true},
		{kind: core("PersistentVolumeClaim"), resource: "persistentvolumeclaims"},
		{kind: core("Namespace"), resource: "namespaces", clusterScoped: true, object: func() any { return &corev1.Namespace{} }},
		{kind: coordinationv1.SchemeGroupVersion.WithKind("Lease"), resource: "leases", object: func() any { return &coordinationv1.Lease{} }},
		{kind: apps("ControllerRevision"), resource: "controllerrevisions"},
		{kind: core("Service"), resource: "services", object: func() any { return &corev1.Service{} }},
		{kind: apps("Deployment"), resource: "deployments", object: func() any { return &appsv1.Deployment{} }},
		{kind: apps("StatefulSet"), resource: "statefulsets", object: func() any { return &appsv1.StatefulSet{} }},
		{kind: batch("Job"), resource: "jobs", object: func() any { return &batchv1.Job{} }},
		{kind: batch("CronJob"), resource: "cronjobs", object: func() any { return &batchv1.CronJob{} }},
		{kind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), resource: "horizontalpodautoscalers",
			object: func() any { return &autoscalingv2.HorizontalPodAutoscaler{} }},
	}
}

// kruise are the kinds of podwright in a version.
func kruise(version string) []served {
	kind := schema.GroupVersion{Group: "apps.kruise.io", Version: version}.WithKind
	return []served{
		{kind: kind("CloneSet"), resource: "clonesets"}, {kind: kind("StatefulSet"), resource: "statefulsets"},
		{kind: kind("DaemonSet"), resource: "daemonsets"}, {kind: kind("UnitedDeployment"), resource: "uniteddeployments"},
		{kind: kind("SidecarSet"), resource: "sidecarsets", clusterScoped: true}, {kind: kind("BroadcastJob"), resource: "broadcastjobs"},
		{kind: kind("AdvancedCronJob"), resource: "advancedcronjobs"}, {kind: kind("ImageListPullJob"), resource: "imagelistpulljobs"},
		{kind: kind("ContainerRecreateRequest"), resource: "containerrecreaterequests"},
		{kind: kind("PodProbeMarker"), resource: "podprobemarkers"}, {kind: kind("WorkloadSpread"), resource: "workloadspreads"},
		{kind: kind("ImagePullJob"), resource: "imagepulljobs"}, {kind: kind("NodeImage"), resource: "nodeimages", clusterScoped: true},
		{kind: kind("ResourceDistribution"), resource: "resourcedistributions", clusterScoped: true},
		{kind: kind("NodePodProbe"), resource: "nodepodprobes", clusterScoped: true},
		{kind: schema.GroupVersionKind{Group: "policy.kruise.io", Version: version, Kind: "PodUnavailableBudget"}, resource: "podunavailablebudgets"},
	}
}

// cluster is an API server in memory, and the program that talks to it.
type cluster struct {
	t       *testing.T
	server  *fakecluster.Server
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	flags   *genericclioptions.TestConfigFlags
	clock   *testclock.FakeClock
}

// newCluster returns a cluster with podwright's kinds in v1alpha1, or in the given versions, the preferred one first.
func newCluster(t *testing.T, versions ...string) *cluster {
	if len(versions) == 0 {
		versions = []string{"v1alpha1"}
	}
	c := &cluster{t: t, clock: testclock.NewFakeClock(noon)}
	kinds := builtIns()
	for _, version := range versions {
		kinds = append(kinds, kruise(version)...)
	}
	groups := discovered(kinds)
	c.mapper = restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), discoveryOf(groups), nil)
	var resources []fakecluster.Resource
	for _, k := range kinds {
		if k.object == nil && !strings.HasSuffix(k.kind.Group, "kruise.io") {
			continue // fakecluster has it
		}
		resource := fakecluster.CustomResource(k.kind, k.resource)
		resource.ClusterScoped, resource.Type = k.clusterScoped, k.object
		resources = append(resources, resource)
	}
	c.server = fakecluster.New(c.clock, resources...)
	c.dynamic = dynamic.NewForConfigOrDie(c.server.Config("test"))
	c.flags = genericclioptions.NewTestConfigFlags().WithRESTMapper(c.mapper).WithDiscoveryClient(discoveryOf(groups)).
		WithClientConfig(kubeconfig{config: c.server.Config("user")})
	return c
}

// shortNames are those that tests use.
var shortNames = map[string][]string{"StatefulSet.apps.kruise.io": {"asts"}, "DaemonSet.apps.kruise.io": {"ads"}, "AdvancedCronJob.apps.kruise.io": {"acj"}}

// scales are the kinds that have a scale subresource.
var scales = map[string]bool{"CloneSet": true, "StatefulSet": true, "UnitedDeployment": true, "Deployment": true}

// discovered lists kinds as discovery does: of several versions of a group the first is preferred.
func discovered(kinds []served) []*restmapper.APIGroupResources {
	groups := map[string]*restmapper.APIGroupResources{}
	var ordered []*restmapper.APIGroupResources
	for _, k := range kinds {
		group, version := groups[k.kind.Group], metav1.GroupVersionForDiscovery{GroupVersion: k.kind.GroupVersion().String(), Version: k.kind.Version}
		if group == nil {
			group = &restmapper.APIGroupResources{VersionedResources: map[string][]metav1.APIResource{},
				Group: metav1.APIGroup{Name: k.kind.Group, PreferredVersion: version}}
			groups[k.kind.Group], ordered = group, append(ordered, group)
		}
		if group.VersionedResources[version.Version] == nil {
			group.Group.Versions = append(group.Group.Versions, version)
		}
		group.VersionedResources[version.Version] = append(group.VersionedResources[version.Version], metav1.APIResource{
			Name: k.resource, SingularName: strings.ToLower(k.kind.Kind), Kind: k.kind.Kind,
			Namespaced: !k.clusterScoped, ShortNames: shortNames[k.kind.GroupKind().String()]})
		if scales[k.kind.Kind] {
			group.VersionedResources[version.Version] = append(group.VersionedResources[version.Version], metav1.APIResource{
				Name: k.resource + "/scale", Group: "autoscaling", Version: "v1", Kind: "Scale", Namespaced: true})
		}
	}
	return ordered
}

func discoveryOf(groups []*restmapper.APIGroupResources) discovery.CachedDiscoveryInterface {
	fake := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	for _, group := range groups {
		for _, version := range group.Group.Versions {
			fake.Resources = append(fake.Resources, &metav1.APIResourceList{
				GroupVersion: version.GroupVersion, APIResources: group.VersionedResources[version.Version]})
		}
	}
	return memory.NewMemCacheClient(fake)
}

// kubeconfig leads to the cluster.
type kubeconfig struct {
	clientcmd.OverridingClientConfig
	config *rest.Config
}

func (c kubeconfig) ClientConfig() (*rest.Config, error) { return rest.CopyConfig(c.config), nil }

func (c kubeconfig) Namespace() (string, bool, error) { return "default", false, nil }

// create creates objects from YAML documents, with their status, and returns the last one.
func (c *cluster) create(documents string) *unstructured.Unstructured {
	c.t.Helper()
	var made *unstructured.Unstructured
	for _, document := range strings.Split(documents, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
			c.t.Fatalf("%v in\n%s", err, document)
		}
		made = c.createObject(u)
	}
	return made
}

func (c *cluster) createObject(u *unstructured.Unstructured) *unstructured.Unstructured {
	c.t.Helper()
	mapping, err := c.mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
	if err != nil {
		c.t.Fatal(err)
	}
	var scoped dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if mapping.Scope == meta.RESTScopeNamespace {
		if u.GetNamespace() == "" {
			u.SetNamespace("default")
		}
		scoped = c.dynamic.Resource(mapping.Resource).Namespace(u.GetNamespace())
	}
	made, err := scoped.Create(context.Background(), u, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	if status, found := u.Object["status"]; found {
		made.Object["status"] = status
		if made, err = scoped.UpdateStatus(context.Background(), made, metav1.UpdateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
	return made
}

// field reads a field of an object that is given as resource/name.
func (c *cluster) field(object string, path ...string) any {
	c.t.Helper()
	client, name := c.named(object)
	u, err := client.Namespace("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	value, _, err := unstructured.NestedFieldNoCopy(u.Object, path...)
	if err != nil {
		c.t.Fatal(err)
	}
	return value
}

// change writes a field.
func (c *cluster) change(object string, value int64, path ...string) {
	c.t.Helper()
	client, name := c.named(object)
	u, err := client.Namespace("default").Get(context.Background(), name, metav1.GetOptions{})
	if err == nil {
		err = unstructured.SetNestedField(u.Object, value, path...)
	}
	if err == nil {
		_, err = client.Namespace("default").Update(context.Background(), u, metav1.UpdateOptions{})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// clusterField returns a field of an object without a namespace, as JSON.
func (c *cluster) clusterField(object, field string) string {
	c.t.Helper()
	client, name := c.named(object)
	u, err := client.Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := json.Marshal(u.Object[field])
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// named returns the client and the name of an object that is given as resource/name.
func (c *cluster) named(object string) (dynamic.NamespaceableResourceInterface, string) {
	c.t.Helper()
	resource, name, _ := strings.Cut(object, "/")
	gvr, err := c.mapper.ResourceFor(schema.ParseGroupResource(resource).WithVersion(""))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.dynamic.Resource(gvr), name
}

// exit is what the program ends with instead of the process.
type exit struct {
	message string
	code    int
}

// run runs the program, and returns what it prints to both streams; of a failure its exit code as well.
func (c *cluster) run(args ...string) string {
	c.t.Helper()
	return c.runWith("", args...)
}

// runWith is run with an input.
func (c *cluster) runWith(input string, args ...string) string {
	c.t.Helper()
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString(input)
	ended := c.execute(streams, args...)
	return out.String() + errOut.String() + ended
}

// execute runs the program with these streams, and returns the message and the exit code of a failure.
func (c *cluster) execute(streams genericiooptions.IOStreams, args ...string) (ended string) {
	c.t.Helper()
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(exit{message, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		switch end := recover().(type) {
		case nil:
		case exit:
			ended = fmt.Sprintf("%s\nexit code %d\n", strings.TrimSpace(end.message), end.code)
		default:
			panic(end)
		}
	}()
	root := newRoot("kubectl podwright", cmdutil.NewMatchVersionFlags(c.flags), streams, c.clock)
	root.SetArgs(args)
	cmdutil.CheckErr(root.Execute())
	return ""
}

// expect fails the test if the program prints something else.
func (c *cluster) expect(want string, args ...string) {
	c.t.Helper()
	if got := c.run(args...); got != want {
		c.t.Errorf("%s\n%sgives\n%s\nwant\n%s", strings.Join(args, " "), "", got, want)
	}
}

// file writes a manifest.
func (c *cluster) file(content string) string {
	c.t.Helper()
	name := c.t.TempDir() + "/manifest.yaml"
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return name
}
