package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuggestions(t *testing.T) {
	cases := map[string]struct {
		place   place
		kubectl kubectl
		want    []string // the last two lines: the command that scales
	}{
		"a cluster of the demo's own": {place{kubeconfig: "/tmp/a/admin.kubeconfig", namespace: "default", own: true}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig /tmp/a/admin.kubeconfig \`, `    scale cloneset web --replicas=12`}},
		"a namespace in a given cluster": {place{kubeconfig: "/home/me/.kube/config", namespace: "demo-1"}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig /home/me/.kube/config -n demo-1 \`, `    scale cloneset web --replicas=12`}},
		"a path with a space": {place{kubeconfig: "/my files/config", namespace: "default"}, kubectl{command: "kubectl"}, []string{
			`  kubectl --kubeconfig '/my files/config' \`, `    scale cloneset web --replicas=12`}},
		"several kubeconfigs": {place{kubeconfig: "/a:/b", namespace: "default"}, kubectl{command: "kubectl"}, []string{
			`  KUBECONFIG=/a:/b kubectl \`, `    scale cloneset web --replicas=12`}},
		"no kubectl": {place{kubeconfig: "/a", namespace: "default"}, kubectl{command: "go tool kubectl"}, []string{
			`  go tool kubectl --kubeconfig /a \`, `    scale cloneset web --replicas=12`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, line := range suggestions(&c.place, c.kubectl) {
				if line.Text != "" {
					lines = append(lines, line.Text)
				}
			}
			if diff := cmp.Diff(c.want, lines[len(lines)-2:]); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			for _, image := range []string{badImage, newImage} {
				patch := fmt.Sprintf(`'[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"%s"}]'`, image)
				if !strings.Contains(strings.Join(lines, "\n"), patch) {
					t.Errorf("no command with the patch %s", patch)
				}
			}
		})
	}
}

func TestFindKubectl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	k := findKubectl()
	if !strings.HasPrefix(k.command, "go ") || !strings.HasSuffix(k.command, " tool kubectl") || k.remark == "" {
		t.Errorf("without kubectl on the PATH: got %+v, want the go command and a remark", k)
	}
}
