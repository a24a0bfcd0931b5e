// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
)

// TestCredentials shows in testdata/credentials.txt which credentials there are, and which are used:
//
//	match web:1      registries follow, each with its own name as the user: those that are used for an image, in order
//	secret .dockercfg
//	                 the data of a secret under that key
//	redact           what is shown of a text, a Go string, beside credentials of robot
func TestCredentials(t *testing.T) {
	datadriven.RunTest(t, "testdata/credentials.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		var all []credential
		var err error
		switch d.Cmd {
		case "redact":
			text, err := strconv.Unquote(d.Input)
			if err != nil {
				t.Fatal(err)
			}
			robot := &criv1.AuthConfig{Username: "robot", Password: "pa ss/word", IdentityToken: "identity", RegistryToken: "registry-token"}
			return strconv.Quote(redacted(text, robot)) + "\n"
		case "match":
			image, err := images.ParseReference(d.CmdArgs[0].String())
			if err != nil {
				t.Fatal(err)
			}
			var entries []string
			for registry := range strings.FieldsSeq(d.Input) {
				entries = append(entries, fmt.Sprintf(`%q:{"username":%q,"password":"p"}`, registry, registry))
			}
			if all, err = parseDockerConfig([]byte(`{"auths":{` + strings.Join(entries, ",") + `}}`)); err != nil {
				t.Fatal(err)
			}
			all = matching(all, image)
		case "secret":
			all, err = secretCredentials(&corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{d.CmdArgs[0].Key: []byte(d.Input)}})
		}
		for _, c := range all {
			out += fmt.Sprintf("%s %q %q\n", c.host, c.auth.Username, c.auth.Password)
		}
		if err != nil {
			out += "error: " + err.Error() + "\n"
		}
		return out
	})
}

// Errors show nothing of what is secret, and nothing makes it panic.
func FuzzDockerConfig(f *testing.F) {
	f.Add([]byte(`{"auths":{"quay.io":{"auth":"bWU6cGFzcw=="}}}`))
	f.Add([]byte(`{"https://index.docker.io/v1/":{"username":"a","password":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		image := images.Reference{Domain: "quay.io", Path: "team/web", Tag: "1"}
		for _, parse := range []func([]byte) ([]credential, error){parseDockerConfig, parseDockerEntries} {
			all, err := parse(data)
			if err != nil && all != nil {
				t.Errorf("credentials beside the error %v", err)
			}
			if match := matching(all, image); len(match) > len(all) {
				t.Errorf("%d of %d credentials match", len(match), len(all))
			}
		}
	})
}
