// Command servers is what a Kubernetes cluster of one machine consists of, as one program: `servers <name> <flags of that server>`.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var servers = map[string]func(args []string) int{
	"etcd": func(args []string) int {
		etcdmain.Main(args)
		return 0
	},
	"kube-apiserver":          of(apiserver.NewAPIServerCommand),
	"kube-controller-manager": of(controllers.NewControllerManagerCommand),
	"kube-scheduler":          of(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 of(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
}

func of(command func() *cobra.Command) func(args []string) int {
	return func(args []string) int {
		os.Args = args
		return cli.Run(command())
	}
}

func main() {
	if len(os.Args) > 1 {
		if run, known := servers[os.Args[1]]; known {
			os.Exit(run(os.Args[1:]))
		}
	}
	names := make([]string, 0, len(servers))
	for name := range servers {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintln(os.Stderr, "usage: servers <name> [flags]; there are:", names)
	os.Exit(2)
}
