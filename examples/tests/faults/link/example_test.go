// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/podwright/podwright/examples/tests/faults/link"
)

// A client is cut off from its server for a while.
func Example() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	network, err := link.New(server.Listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer network.Close()
	ask := func() {
		response, err := http.Get("http://" + network.Address())
		if err != nil {
			fmt.Println("no answer")
			return
		}
		response.Body.Close()
		fmt.Println(response.Status)
	}
	ask()
	network.Cut()
	ask()
	network.Heal()
	ask()
	// Output:
	// 404 Not Found
	// no answer
	// 404 Not Found
}
