// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
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
	case "ready":
		p.setReady(args[0], corev1.ConditionTrue)
	case "unready":
		p.setReady(args[0], corev1.ConditionUnknown)
	case "secret":
		p.addSecret(args[0], args[1])
	case "foreign-copy":
		p.addForeignCopy(args[0], args[1])
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
	"cloneset": "/apis/apps.kruise.io/v1alpha1/namespaces/default/clonesets", "statefulset": "/apis/apps.kruise.io/v1beta1/namespaces/default/statefulsets",
	"team-b-job": "/apis/apps.kruise.io/v1alpha1/namespaces/team-b/imagepulljobs", "team-b-secret": "/api/v1/namespaces/team-b/secrets",
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

// addForeignCopy adds a copy of the secret s as OpenKruise 1.9 leaves it.
func (c *cluster) addForeignCopy(name, references string) {
	c.Helper()
	_, err := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).Create(c.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			v1alpha1.PullSecretSourceAnnotation: namespace + "/s", v1alpha1.PullSecretReferencesAnnotation: references, "imagepulljobs.kruise.io/mode": "batch"}},
		Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("one")},
	}, metav1.CreateOptions{})
	c.Must(err)
}

// setReady has the node be ready, or not, from now on.
func (c *cluster) setReady(name string, status corev1.ConditionStatus) {
	c.Helper()
	node, err := c.kube.CoreV1().Nodes().Get(c.Context(), name, metav1.GetOptions{})
	c.Must(err)
	node.Status.Conditions[0].Status, node.Status.Conditions[0].LastTransitionTime = status, metav1.Now()
	_, err = c.kube.CoreV1().Nodes().UpdateStatus(c.Context(), node, metav1.UpdateOptions{})
	c.Must(err)
}
