// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
)

// change changes an object.
func (p *player) change(command string, args []string, input string) {
	input = strings.NewReplacer("UID", string(p.uid), "NOW", time.Now().UTC().Format(time.RFC3339)).Replace(input)
	switch command {
	case "job":
		p.uid = p.addJob(args[0], input).UID
	case "node":
		labels := map[string]string{}
		for _, label := range args[1:] {
			key, value, _ := strings.Cut(label, "=")
			labels[key] = value
		}
		p.addNode(args[0], labels)
	case "secret":
		p.addSecret(args[0], args[1])
	case "fill":
		images := map[string]any{}
		for i := range v1alpha1.MaxNodeImageImages {
			images[fmt.Sprint("image", i)] = map[string]any{"tags": []any{map[string]any{"tag": "1", "createdAt": time.Now().Format(time.RFC3339)}}}
		}
		full, err := yaml.Marshal(map[string]any{"spec": map[string]any{"images": images}})
		p.Must(err)
		p.write("patch", []string{"image", args[0]}, full)
	case "create", "patch", "delete":
		p.write(command, args, []byte(input))
	default:
		p.Fatalf("no such line: %s", command)
	}
}

// paths are those of the kinds.
var paths = map[string]string{
	"job": "/apis/apps.kruise.io/v1alpha1/namespaces/default/imagepulljobs", "image": "/apis/apps.kruise.io/v1alpha1/nodeimages",
	"cloneset":    "/apis/apps.kruise.io/v1alpha1/namespaces/default/clonesets",
	"statefulset": "/apis/apps.kruise.io/v1beta1/namespaces/default/statefulsets",
	"team-b-job":  "/apis/apps.kruise.io/v1alpha1/namespaces/team-b/imagepulljobs", "team-b-secret": "/api/v1/namespaces/team-b/secrets",
	"node": "/api/v1/nodes", "pod": "/api/v1/namespaces/default/pods",
	"secret": "/api/v1/namespaces/default/secrets", "copy": "/api/v1/namespaces/kruise-daemon-config/secrets",
}

// write sends a request about an object: its kind, its name and perhaps a subresource.
func (p *player) write(verb string, args []string, input []byte) {
	body, err := yaml.YAMLToJSON(input)
	p.Must(err)
	path, rest := paths[args[0]], p.kube.CoreV1().RESTClient()
	name := args[1]
	switch name {
	case "COPY":
		name = copyName("s")
	case "POD":
		name = p.pullPods()[0].Name
	}
	switch verb {
	case "create":
		err = rest.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(p.Context()).Error()
	case "patch":
		err = rest.Patch(types.MergePatchType).AbsPath(append([]string{path, name}, args[2:]...)...).Body(body).Do(p.Context()).Error()
	case "delete":
		err = rest.Delete().AbsPath(path, name).Do(p.Context()).Error()
	}
	p.Must(err)
}

// startWorkload starts the controllers of CloneSets and Advanced StatefulSets, and creates one of a kind.
func (p *player) startWorkload(kind, manifest string) {
	jobs, err := workloads.NewImagePullJobs(p.distribution("workloads"), p.jobOptions.ImagePullJobs)
	p.Must(err)
	cloneSets, err := cloneset.New(cloneset.Options{Kubernetes: p.Kubernetes("workloads"), Workloads: p.workloads("workloads"),
		NoNodes: true, Jobs: jobs, Features: cloneset.Features{PreDownload: true}})
	p.Must(err)
	statefulSets, err := statefulset.New(statefulset.Options{Kubernetes: p.Kubernetes("workloads"), Workloads: p.workloads("workloads"),
		Jobs: jobs, Features: statefulset.Features{PreDownload: true}})
	p.Must(err)
	p.Go(cloneSets.Run, statefulSets.Run)
	p.Sleep(time.Second)
	p.write("create", []string{kind, "web"}, []byte(manifest))
	p.kubelets(20 * time.Second)
	p.inOrder(kind)
}

// kubelets has the kubelets of pods work for a while.
func (p *player) kubelets(period time.Duration) {
	kubelet := &fakecluster.Kubelet{Client: p.kube}
	for range int(period.Seconds()) {
		p.Must(kubelet.SyncAll(p.Context(), namespace))
		p.Sleep(time.Second)
	}
}

// inOrder has the five pods of a workload be updated in an order. For a StatefulSet that is from the highest ordinal down, for a CloneSet by
// a label.
func (p *player) inOrder(kind string) {
	pods, err := p.kube.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{})
	p.Must(err)
	var names []string
	for i, word := range []string{"first", "second", "third", "fourth", "fifth"} {
		pod := pods.Items[len(pods.Items)-1-i]
		if kind == "cloneset" {
			pod = pods.Items[i*2%5]
			order := fmt.Appendf(nil, `{"metadata":{"labels":{"order":"%d"}}}`, 9-i) // the larger goes first
			_, err := p.kube.CoreV1().Pods(namespace).Patch(p.Context(), pod.Name, types.MergePatchType, order, metav1.PatchOptions{})
			p.Must(err)
		}
		p.addNode(pod.Spec.NodeName, nil)
		names = append(names, pod.Spec.NodeName, word, pod.Name, word)
	}
	p.order = strings.NewReplacer(names...)
}

// startManagers starts controllers of jobs, each of a namespace.
func (p *player) startManagers(namespaces []string) {
	for _, of := range namespaces {
		o := imagepulljob.Options{Distribution: p.distribution(of), Kubernetes: p.Kubernetes(of)}
		o.Namespace = of
		switch of {
		case "shared":
			continue
		case namespace:
			o = p.jobOptions
			if o.ImagePullJobs, o.NodeImages, o.Pods, o.Copies, o.Namespace = nil, nil, nil, nil, of; slices.Contains(namespaces, "shared") {
				o.Namespace, o.ImagePullJobs = "", client.NewImagePullJobInformer(p.distribution("caches"), of, 0, cache.Indexers{})
				p.Go(fixture.Informing(o.ImagePullJobs))
			}
		}
		jobs, err := imagepulljob.New(o)
		p.Must(err)
		p.Go(jobs.Run)
	}
}
