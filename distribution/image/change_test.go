// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"time"

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
