// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/takeover"
	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// taint keeps pods from a node that the data do not put there.
var taint = corev1.Taint{Key: "test", Effect: corev1.TaintEffectNoSchedule}

// eventually waits until there is no error.
func (l *live) eventually(what string, try func() error) {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, testbed.Patience)
	defer cancel()
	if err := testbed.Repeat(ctx, what, try); err != nil {
		l.Fatal(err)
	}
}

// pod is which pod has a name, and how often its containers have restarted.
type pod struct {
	uid      types.UID
	restarts int64
}

// pods are those of the namespace, by name.
func (l *live) pods() map[string]*pod {
	l.Helper()
	all := map[string]*pod{}
	for _, u := range l.list("Pod") {
		all[u.GetName()] = &pod{u.GetUID(), 0}
		for _, one := range at(u.Object, "status", "containerStatuses") {
			n, _, _ := unstructured.NestedInt64(one.(map[string]any), "restartCount")
			all[u.GetName()].restarts += n
		}
	}
	return all
}

// show has pods compared by what they say.
func show(pods map[string]*pod) map[string]string {
	said := map[string]string{}
	for name, p := range pods {
		said[name] = fmt.Sprintf("%s, %d restarts", p.uid, p.restarts)
	}
	return said
}

// kinds are those that are listed by kind alone.
var kinds = map[string]schema.GroupKind{"Pod": pods, "ControllerRevision": {Group: "apps", Kind: "ControllerRevision"}, "Job": {Group: "batch", Kind: "Job"}}

// list lists the objects of a kind in the namespace.
func (l *live) list(kind string) []unstructured.Unstructured {
	l.Helper()
	of, known := kinds[kind]
	if !known {
		of = kindOf(kind)
	}
	mapping, err := l.mapper.RESTMapping(of)
	l.must(err)
	list, err := l.dynamic.Resource(mapping.Resource).Namespace(l.namespace).List(l.ctx, everything)
	l.must(err)
	return list.Items
}

// names are those of objects of kinds.
func (l *live) names(kinds ...string) (all []string) {
	l.Helper()
	for _, kind := range kinds {
		for _, u := range l.list(kind) {
			all = append(all, kind+" "+u.GetName())
		}
	}
	slices.Sort(all)
	return all
}

// awaitPods waits until the kubelets have said that all pods run, and one Job is over.
func (l *live) awaitPods() {
	l.Helper()
	l.eventually("all pods run", func() error {
		for _, u := range l.list("Pod") {
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "Running" && phase != "Succeeded" {
				return fmt.Errorf("pod %s is %s", u.GetName(), phase)
			}
		}
		for _, u := range l.list("Job") {
			ended, _, _ := unstructured.NestedInt64(u.Object, "status", "succeeded")
			active, _, _ := unstructured.NestedInt64(u.Object, "status", "active")
			if wanted := strings.HasPrefix(u.GetName(), "hourly-"); wanted && ended != 1 || !wanted && active != 1 {
				return fmt.Errorf("Job %s: %v", u.GetName(), u.Object["status"])
			}
			if conditions := at(u.Object, "status", "conditions"); strings.HasPrefix(u.GetName(), "hourly-") && !strings.Contains(fmt.Sprint(conditions), "type:Complete") {
				return fmt.Errorf("Job %s: %v", u.GetName(), conditions)
			}
		}
		return nil
	})
}

// resizes is the kubelet, which gives a container what it asks for.
func (l *live) resizes() {
	l.Helper()
	status := []byte(`{"status":{"containerStatuses":[{"name":"main","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"2"}}}]}}`)
	if pod := l.get(pods, l.namespace, "bigger-grows"); pod != nil {
		_, err := l.client(pod).Patch(l.ctx, pod.GetName(), types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
		l.must(err)
	}
}

// gates are those that podwright is given for a release.
func (l *live) gates(release string) *features.Gates {
	l.Helper()
	flags := releases[release]
	gates, err := flags.Parse()
	l.must(err)
	return gates
}

// checks has takeover check read the cluster: it says what it says of the same cluster in memory, in which the Lease is fresh.
func (l *live) checks(release string) {
	l.Helper()
	gates, config := l.gates(release), l.control.Config()
	planner, err := plan.NewPlanner(config, l.mapper, clock.RealClock{}, gates, switches.NewSettings())
	l.must(err)
	planner.Remember()
	reader := takeover.Reader{Dynamic: l.dynamic, Kubernetes: kubernetes.NewForConfigOrDie(config), Mapper: l.mapper, Planner: planner,
		Clock: clock.RealClock{}, Namespace: "kruise-system", Namespaces: []string{l.namespace}, Limit: 1000, Gates: gates}
	report := takeover.Check(reader.Read(l.ctx))
	var said []string
	for _, f := range report.Findings {
		said = append(said, fmt.Sprintf("%s: %s [%s]\n    %s", f.Severity, f.Object, f.Rule, f.Says))
	}
	for _, unread := range report.Unread {
		l.Errorf("takeover check cannot read %s", unread)
	}
	content, err := os.ReadFile("testdata/" + release + "/check.txt")
	l.must(err)
	var want []string
	for _, one := range strings.Split(string(content), "\n\n")[1:] {
		lines := strings.Split(one, "\n")
		if !strings.HasPrefix(lines[0], "will happen: Lease ") {
			want = append(want, lines[0]+"\n"+lines[1])
		}
	}
	if diff := cmp.Diff(l.normal(want), l.normal(said)); diff != "" {
		l.Errorf("takeover check says otherwise than testdata/%s/check.txt (-want +got):\n%s", release, diff)
	}
}

// normal leaves out of sentences what is another thing in each run: the namespace, times, and the deletions that have just begun.
func (l *live) normal(sentences []string) (all []string) {
	times, jobs := regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), regexp.MustCompile(`-1\d{9}\b`)
	for _, one := range sentences {
		if !strings.Contains(one, "It is being deleted since") {
			one = jobs.ReplaceAllString(times.ReplaceAllString(one, "TIME"), "-TIME")
			all = append(all, strings.ReplaceAll(one, l.namespace, "shop"))
		}
	}
	slices.Sort(all)
	return all
}

// starts stops what is OpenKruise's and starts the manager, told to behave as the release does. It returns what stops it, and what says
// which writes the API server has accepted from it.
func (l *live) starts(release string) (stop func() error, written func() []string) {
	l.Helper()
	for _, program := range read(l.T, l.change, release+"/installation.yaml") {
		switch {
		case program.GetAPIVersion() != "apps/v1":
		case program.GetKind() == "Deployment":
			_, err := l.client(program).Patch(l.ctx, program.GetName(), types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{})
			l.must(err)
		default: // agents
			l.must(l.client(program).Delete(l.ctx, program.GetName(), metav1.DeleteOptions{}))
		}
	}
	var ports []any
	for range 3 {
		port, err := cluster.FreePort()
		l.must(err)
		ports = append(ports, port)
	}
	flags := []string{"--release=" + string(releases[release].Release), "--feature-gates=" + releases[release].Gates, "--install-crds", "--webhook-host=127.0.0.1",
		"--webhook-bind-address=127.0.0.1", "--webhook-cert-writer=secret", "--nodeimage-creation-delay=0"}
	flags = append(flags, strings.Fields(fmt.Sprintf("--metrics-addr=127.0.0.1:%d --health-probe-addr=127.0.0.1:%d --webhook-port=%d", ports...))...)
	config, err := app.NewConfig(func(string) string { return "" })
	l.must(err)
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(set)
	l.must(set.Parse(flags))
	manifest, err := app.Manifest(config)
	l.must(err)
	account, err := l.control.Account(l.ctx, manifest)
	l.must(err)
	config.Kubeconfig = account.Kubeconfig
	before := l.log()
	manager, err := app.New(config)
	l.must(err)
	ctx, cancel := context.WithCancel(l.ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Run(ctx) }()
	l.eventually("the manager", func() error {
		select {
		case err := <-ended:
			l.Fatalf("the manager ends with %v", err)
		default:
		}
		conn, err := net.DialTimeout("tcp", config.HealthProbeAddr, time.Second)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	return func() error { cancel(); return <-ended }, func() []string { return l.requests(l.log()[len(before):]) }
}

// over says what the take-over waits for: nil if all is as it should be.
func (l *live) over() error {
	for name, pods := range map[string]int64{"moving": 3, "web": 2, "spread": 2} {
		if err := l.settled(l.namespace, name, pods); err != nil {
			return err
		}
	}
	for _, u := range l.list("Pod") {
		if u.GetLabels()["lifecycle.apps.kruise.io/state"] == "Updating" {
			return fmt.Errorf("pod %s is being updated", u.GetName())
		}
	}
	for _, kind := range []string{"NodeImage", "NodePodProbe"} { // each node has one
		if l.get(kindOf(kind), "", "node-2") == nil {
			return fmt.Errorf("node-2 has no %s", kind)
		}
	}
	return l.released(l.namespace)
}

// workloads are the kinds with a field that moves no pod, and that their controller is seen to have seen. One with subsets hands it on.
func (l *live) workloads() (all []string) {
	l.Helper()
	for _, d := range readDefinitions(l.T) {
		has := map[string]bool{}
		for i := range d.fields {
			has[d.fields[i].path] = true
		}
		if !d.clusterScoped && has[".spec.revisionHistoryLimit"] && has[".status.observedGeneration"] && !has[".spec.topology.subsets"] {
			all = append(all, d.kind)
		}
	}
	return all
}

// looked changes every workload in what moves no pod, and returns what waits until its controller has seen that.
func (l *live) looked() func() error {
	l.Helper()
	for _, kind := range l.workloads() {
		for _, u := range l.list(kind) {
			if len(u.GetOwnerReferences()) == 0 {
				_, err := l.client(&u).Patch(l.ctx, u.GetName(), types.MergePatchType, []byte(`{"spec":{"revisionHistoryLimit":9}}`), metav1.PatchOptions{})
				l.must(err)
			}
		}
	}
	return func() error {
		for _, kind := range l.workloads() {
			for _, u := range l.list(kind) {
				if seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); seen != u.GetGeneration() {
					return fmt.Errorf("%s %s: generation %d of %d", kind, u.GetName(), seen, u.GetGeneration())
				}
			}
		}
		return nil
	}
}

// handsBack asks what the release could not read of the cluster: nothing. Its definitions take every object as podwright leaves it.
func (l *live) handsBack(release string) {
	l.Helper()
	reader := takeover.Reader{Dynamic: l.dynamic, Kubernetes: kubernetes.NewForConfigOrDie(l.control.Config()), Mapper: l.mapper,
		Clock: clock.RealClock{}, Namespace: "kruise-system", Namespaces: []string{l.namespace}, Limit: 1000, Gates: l.gates(release), Back: true}
	report := takeover.CheckBack(reader.Read(l.ctx), release)
	if len(report.Findings) > 0 || len(report.Unread) > 0 {
		l.Errorf("back to %s: %v, unread %v", release, report.Findings, report.Unread)
	}
	l.eventually("the definitions of OpenKruise "+release+" in place of podwright's", func() error {
		for _, d := range readDefinitions(l.T) {
			if d.stored(release) != "" {
				if err := l.apply(d.crd(release)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	admission := kubernetes.NewForConfigOrDie(l.control.Config()).AdmissionregistrationV1() // whose manager has ended
	l.must(admission.MutatingWebhookConfigurations().DeleteCollection(l.ctx, metav1.DeleteOptions{}, everything))
	l.must(admission.ValidatingWebhookConfigurations().DeleteCollection(l.ctx, metav1.DeleteOptions{}, everything))
	for _, u := range l.everything() {
		if !strings.HasSuffix(u.GroupVersionKind().Group, "kruise.io") || u.GetNamespace() != l.namespace && u.GetNamespace() != "" {
			continue
		}
		l.eventually("a write of "+u.GetKind()+" "+u.GetName()+" with the definitions of OpenKruise "+release, func() error {
			_, err := l.client(u).Update(l.ctx, u, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			if apierrors.IsInvalid(err) {
				l.Errorf("OpenKruise %s: %v", release, err)
				return nil
			}
			return err
		})
	}
}

// cleans takes away what the next release leaves too. The namespace goes by itself.
func (l *live) cleans() {
	l.Helper()
	kube := kubernetes.NewForConfigOrDie(l.control.Config())
	for _, u := range l.everything() {
		namespaced := u.GetNamespace() != ""
		if len(u.GetFinalizers()) > 0 && (!namespaced || u.GetNamespace() == l.namespace) {
			_, err := l.client(u).Patch(l.ctx, u.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			l.must(ignored(err))
		}
		if !namespaced && u.GetKind() != "Node" || u.GetNamespace() == "kruise-daemon-config" && u.GetKind() == "Secret" {
			l.must(ignored(l.client(u).Delete(l.ctx, u.GetName(), metav1.DeleteOptions{})))
		}
	}
	l.must(kube.CoreV1().Namespaces().Delete(l.ctx, l.namespace, metav1.DeleteOptions{}))
	l.must(kube.AppsV1().Deployments("kruise-system").Delete(l.ctx, "kruise-controller-manager", metav1.DeleteOptions{}))
	l.must(kube.CoordinationV1().Leases("kruise-system").Delete(l.ctx, "kruise-manager", metav1.DeleteOptions{}))
	l.must(kube.AppsV1().ControllerRevisions("kruise-system").DeleteCollection(l.ctx, metav1.DeleteOptions{}, everything))
}

// ignored is an error but for what is gone already.
func ignored(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
