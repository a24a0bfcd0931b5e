// SPDX-License-Identifier: Apache-2.0

package install

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	manager "github.com/podwright/podwright/examples/manager/app"
	nodeagent "github.com/podwright/podwright/examples/nodeagent/app"
)

// shipped returns the objects that the files of this folder hold.
func shipped(t *testing.T) *Objects {
	t.Helper()
	objects, err := New(NewOptions())
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// The files are what "make generate" makes.
func TestFilesAreGenerated(t *testing.T) {
	files, err := Files(NewOptions())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is out of date, run make generate (-file +wanted):\n%s", path, diff)
		}
	}
}

// find returns the only object of a kind.
func find[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) (found *T) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		if found != nil {
			t.Fatalf("more than one %s", kind)
		}
		found = new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, found, true); err != nil {
			t.Fatal(err)
		}
	}
	if found == nil {
		t.Fatalf("no %s", kind)
	}
	return found
}

// getenv returns what a container reads from its environment.
func getenv(c *corev1.Container, fields map[string]string) func(string) string {
	return func(variable string) string {
		for _, e := range c.Env {
			switch {
			case e.Name != variable:
			case e.ValueFrom != nil:
				return fields[e.ValueFrom.FieldRef.FieldPath]
			default:
				return e.Value
			}
		}
		return ""
	}
}

// A manager runs as the account that has the RBAC rules, and probes ask the ports on which it answers.
func TestManager(t *testing.T) {
	objects := shipped(t).Manager
	deployment, account, service := find[appsv1.Deployment](t, objects, "Deployment"), find[corev1.ServiceAccount](t, objects, "ServiceAccount"), find[corev1.Service](t, objects, "Service")
	pod := deployment.Spec.Template.Spec
	if deployment.Namespace != account.Namespace || pod.ServiceAccountName != account.Name {
		t.Errorf("it runs as %s/%s, want %s/%s", deployment.Namespace, pod.ServiceAccountName, account.Namespace, account.Name)
	}
	c := &pod.Containers[0]
	config, err := manager.NewConfig(getenv(c, map[string]string{"metadata.namespace": deployment.Namespace}))
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(c.Args); err != nil {
		t.Fatal(err)
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	if config.OwnNamespace != deployment.Namespace {
		t.Errorf("it works in %s", config.OwnNamespace)
	}
	ports := map[string]string{}
	for _, port := range c.Ports {
		ports[port.Name] = ":" + strconv.Itoa(int(port.ContainerPort))
	}
	want := map[string]string{"health": config.HealthProbeAddr, "metrics": config.MetricsAddr, "webhook": ":" + strconv.Itoa(config.Webhook.Port)}
	if diff := cmp.Diff(want, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if got := probe.HTTPGet; got.Path != path || got.Port.String() != "health" {
			t.Errorf("it is asked %+v", got)
		}
	}
	if port := service.Spec.Ports[0]; service.Name != config.Webhook.Service || service.Namespace != config.OwnNamespace || port.Port != 443 || port.TargetPort.String() != "webhook" {
		t.Errorf("webhooks are called by %s/%s: %+v", service.Namespace, service.Name, port)
	}
	for label, value := range service.Spec.Selector {
		if deployment.Spec.Template.Labels[label] != value {
			t.Errorf("the Service does not select the managers: %v", deployment.Spec.Template.Labels)
		}
	}
	if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser == 0 {
		t.Errorf("it runs as root: %+v", s)
	}
	checkContainer(t, c)
}

// An agent runs as which the RBAC rules are granted and the policies made, and has mounted what its flags name.
func TestNodeAgent(t *testing.T) {
	objects := shipped(t).NodeAgent
	daemon, account := find[appsv1.DaemonSet](t, objects, "DaemonSet"), find[corev1.ServiceAccount](t, objects, "ServiceAccount")
	pod := &daemon.Spec.Template.Spec
	if daemon.Namespace != account.Namespace || pod.ServiceAccountName != account.Name {
		t.Errorf("it runs as %s/%s, want %s/%s", daemon.Namespace, pod.ServiceAccountName, account.Namespace, account.Name)
	}
	c := &pod.Containers[0]
	config := nodeagent.NewConfig(getenv(c, map[string]string{"spec.nodeName": "node-1"}))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(c.Args); err != nil {
		t.Fatal(err)
	}
	if err := config.Validate(); err != nil || config.NodeName != "node-1" {
		t.Errorf("error %v on node %q", err, config.NodeName)
	}
	for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if got := probe.HTTPGet; got.Path != path || net.JoinHostPort(got.Host, got.Port.String()) != config.HealthAddr || !pod.HostNetwork {
			t.Errorf("probes ask %+v, the agent answers at %s, in the network of the node: %v", got, config.HealthAddr, pod.HostNetwork)
		}
	}
	mounts := map[string]corev1.VolumeSource{}
	for _, mount := range c.VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name && mount.ReadOnly {
				mounts[mount.MountPath] = volume.VolumeSource
			}
		}
	}
	for _, socket := range []string{strings.TrimPrefix(config.Endpoint, "unix://"), config.KubeletSocket} {
		if folder := filepath.Dir(socket); mounts[folder].HostPath == nil || mounts[folder].HostPath.Path != folder {
			t.Errorf("%s of the node is not mounted: %+v", folder, mounts)
		}
	}
	if token := mounts["/var/run/secrets/kubernetes.io/serviceaccount"].Projected; *pod.AutomountServiceAccountToken || token == nil || token.Sources[0].ServiceAccountToken == nil || token.Sources[0].ServiceAccountToken.Path != "token" {
		t.Errorf("no token of the pod: %+v", mounts)
	}
	checkContainer(t, c)
}

func checkContainer(t *testing.T, c *corev1.Container) {
	t.Helper()
	if s := c.SecurityContext; s.Privileged != nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) > 0 {
		t.Errorf("more than the program takes: %+v", s)
	}
	if c.ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("images that are on the node are not used: %s", c.ImagePullPolicy)
	}
}

// Rules, CRDs, ports and mounts follow the flags, and every namespace that an object is in is installed.
func TestFlags(t *testing.T) {
	names := func(objects []*unstructured.Unstructured) (names []string) {
		for _, object := range objects {
			names = append(names, object.GetName())
		}
		return names
	}
	const gated = "resourcedistributions.apps.kruise.io"
	if slices.Contains(names(shipped(t).CRDs), gated) {
		t.Errorf("%s is installed, which no manager serves", gated)
	}
	o := NewOptions()
	o.ManagerFlags = []string{"--feature-gates=ResourceDistributionGate=true", "--own-namespace=ops", "--enable-webhooks=false", "--metrics-addr=0"}
	o.NodeAgentFlags = []string{"--cri-endpoint=/run/crio/crio.sock", "--health-addr=:1"}
	objects, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names(objects.CRDs), gated) {
		t.Errorf("the CRDs are %v", names(objects.CRDs))
	}
	if diff := cmp.Diff([]string{"ops", "kruise-daemon-config", "kruise-system"}, names(objects.Namespaces)); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	deployment := find[appsv1.Deployment](t, objects.Manager, "Deployment")
	if ports := deployment.Spec.Template.Spec.Containers[0].Ports; deployment.Namespace != "ops" || len(ports) != 1 || ports[0].Name != "health" {
		t.Errorf("in %s, ports %+v", deployment.Namespace, ports)
	}
	if slices.ContainsFunc(objects.Manager, func(u *unstructured.Unstructured) bool { return u.GetKind() == "Service" }) {
		t.Error("there is a Service without webhooks")
	}
	if pod := find[appsv1.DaemonSet](t, objects.NodeAgent, "DaemonSet").Spec.Template.Spec; pod.Volumes[0].HostPath.Path != "/run/crio" {
		t.Errorf("volumes %+v", pod.Volumes)
	}
}

// What credential provider plugins are told and what they are is on the node.
func TestMountsOfPlugins(t *testing.T) {
	o := NewOptions()
	o.NodeAgentFlags = append(o.NodeAgentFlags, "--image-credential-provider-config=/etc/plugins/config.yaml", "--image-credential-provider-bin-dir=/opt/plugins/")
	objects, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	pod := find[appsv1.DaemonSet](t, objects.NodeAgent, "DaemonSet").Spec.Template.Spec
	paths := map[string]string{}
	for i, mount := range pod.Containers[0].VolumeMounts {
		if volume := pod.Volumes[i]; volume.Name == mount.Name && volume.HostPath != nil {
			paths[mount.MountPath] = volume.HostPath.Path
		}
	}
	for _, want := range []string{"/etc/plugins", "/opt/plugins"} {
		if paths[want] != want {
			t.Errorf("%s is not mounted: %v", want, paths)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"flags of the manager: unknown flag: --no":                               func(o *Options) { o.ManagerFlags = []string{"--no"} },
		"flags of the manager: --own-namespace":                                  func(o *Options) { o.ManagerFlags = []string{"--own-namespace=A"} },
		"address of metrics: strconv.ParseInt: parsing \"x\"":                    func(o *Options) { o.ManagerFlags = []string{"--metrics-addr=:x"} },
		"flags of the node agent: unknown flag: --no":                            func(o *Options) { o.NodeAgentFlags = []string{"--no"} },
		"flags of the node agent: want --cri-endpoint, whose folder is mounted":  func(o *Options) { o.NodeAgentFlags = nil },
		"flags of the node agent: --health-addr: address 0: missing port in add": func(o *Options) { o.NodeAgentFlags = append(o.NodeAgentFlags, "--health-addr=0") },
	} {
		o := NewOptions()
		change(&o)
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
