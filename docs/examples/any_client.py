"""Ask `askhouse serve` with Google's own client, as any data agent in development can.

Start `askhouse serve`, then: python any_client.py http://127.0.0.1:PORT "How many flights left each airport?"
"""

import sys

from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import geminidataanalytics as gda


def ask(address: str, question: str) -> None:
    """Print the kind of each message of the reply, and the SQL."""
    client = gda.DataChatServiceClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options=ClientOptions(api_endpoint=address),
    )
    request = gda.ChatRequest(
        parent="projects/local/locations/global",
        messages=[gda.Message(user_message=gda.UserMessage(text=question))],
        data_agent_context=gda.DataAgentContext(data_agent="projects/local/locations/global/dataAgents/flights"),
    )
    for message in client.chat(request=request):
        system = message.system_message
        print(system._pb.WhichOneof("kind"), system.data.generated_sql)  # noqa: T201  # an example is read on a screen


if __name__ == "__main__":
    ask(sys.argv[1], sys.argv[2])
