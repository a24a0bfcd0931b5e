package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/examples/evaluate/display"
)

func TestSuggestions(t *testing.T) {
	cases := map[string]struct {
		kind    *kind
		place   place
		kubectl kubectl
		want    []string // the two lines of the command that scales
	}{
		"a cluster of the demo's own": {&cloneSets, place{kubeconfig: "/tmp/a/admin.kubeconfig", namespace: "default", own: true}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig /tmp/a/admin.kubeconfig \`, `    scale cloneset web --replicas=12`}},
		"a StatefulSet that is not that of Kubernetes": {&statefulSets, place{kubeconfig: "/a", namespace: "default"}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig /a \`, `    scale statefulset.apps.kruise.io web --replicas=12`}},
		"a namespace in a given cluster": {&cloneSets, place{kubeconfig: "/home/me/.kube/config", namespace: "demo-1"}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig /home/me/.kube/config -n demo-1 \`, `    scale cloneset web --replicas=12`}},
		"a path with a space": {&cloneSets, place{kubeconfig: "/my files/config", namespace: "default"}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig '/my files/config' \`, `    scale cloneset web --replicas=12`}},
		"several kubeconfigs": {&cloneSets, place{kubeconfig: "/a:/b", namespace: "default"}, kubectl{command: "kubectl"}, []string{
			`  KUBECONFIG=/a:/b kubectl \`, `    scale cloneset web --replicas=12`}},
		"no kubectl": {&cloneSets, place{kubeconfig: "/a", namespace: "default"}, kubectl{command: "go tool kubectl"}, []string{
			`  go tool kubectl --kubeconfig /a \`, `    scale cloneset web --replicas=12`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := textOf(suggestions(c.kind, &c.place, c.kubectl))
			want := append(c.want, "3. Scale out.")
			for _, image := range []string{badImage, newImage} {
				want = append(want, fmt.Sprintf(`    patch %s web --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"%s"}]'`,
					c.kind.kubectl, image))
			}
			for _, line := range want {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("no line %s in:\n%s", line, text)
				}
			}
		})
	}
}

// A kind can have commands of its own.
func TestMoreSuggestions(t *testing.T) {
	text := textOf(suggestions(&statefulSets, &place{kubeconfig: "/a", namespace: "default"}, kubectl{command: "kubectl"}))
	want := `
4. Reserve an ordinal: web-3 goes for good, and a pod with the next free ordinal comes.
  kubectl --kubeconfig /a \
    patch statefulset.apps.kruise.io web --type=json -p '[{"op":"add","path":"/spec/reserveOrdinals","value":[3]}]'

`
	if !strings.HasSuffix(text, want) {
		t.Errorf("got:\n%s\nwant at the end:%s", text, want)
	}
}

func textOf(lines []display.Line) string {
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintln(&out, line.Text)
	}
	return out.String()
}

func TestFindKubectl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	k := findKubectl()
	if !strings.HasPrefix(k.command, "go ") || !strings.HasSuffix(k.command, " tool kubectl") || k.remark == "" {
		t.Errorf("without kubectl on the PATH: got %+v, want the go command and a remark", k)
	}
}
